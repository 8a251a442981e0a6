import { expect, test } from "bun:test";
import { judgeService, type ServiceFacts, type ServiceRun } from "./service-status.ts";

const RUN: ServiceRun = {
  loaded: true,
  stale: false,
  enabled: true,
  state: "active",
  pid: 7,
  exitCode: null,
  spares: true,
};
const GOOD: ServiceFacts = {
  manager: "systemd",
  unit: "u.service",
  path: "/u",
  file: "current",
  binary: "/b",
  binaryState: "this",
  run: RUN,
  supervisor: { pid: 7, version: "1" },
  lingering: true,
  user: "ann",
  version: "1",
  logCommand: "the log",
};
const facts = (over: Partial<ServiceFacts>, run: Partial<ServiceRun> = {}): ServiceFacts => ({
  ...GOOD,
  run: { ...RUN, ...run },
  ...over,
});
const install = "convoy service install --network n";

test.each<[string, ServiceFacts, [string, string, string][]]>([
  ["all well", GOOD, []],
  ["cannot tell whether it lingers", facts({ lingering: null }), []],
  ["not installed", facts({ file: "missing" }), [["error", "it is not installed", install]]],
  [
    "another's file",
    facts({ file: "foreign" }),
    [["error", "/u was not written by convoy", `move it away, then ${install}`]],
  ],
  [
    "unreadable",
    facts({ file: "unreadable" }),
    [["error", "/u cannot be read", `move it away, then ${install}`]],
  ],
  ["edited", facts({ file: "differs" }), [["warning", "/u is not as this convoy writes it", install]]],
  ["binary gone", facts({ binaryState: "gone" }), [["error", "it starts /b, which is gone", install]]],
  [
    "another binary",
    facts({ binaryState: "other" }),
    [["warning", "it starts /b, which is not this program", install]],
  ],
  [
    "no manager",
    facts({ run: { problem: "no answer" } }),
    [["error", "no answer", "loginctl enable-linger ann"]],
  ],
  ["not loaded", facts({}, { loaded: false }), [["error", "its manager has not read it", install]]],
  ["stale", facts({}, { stale: true }), [["error", "its manager has not read its file again", install]]],
  ["disabled", facts({}, { enabled: false }), [["error", "it is not started by itself", install]]],
  [
    "a stop would kill",
    facts({}, { spares: false }),
    [
      [
        "error",
        "a stop of it would end every agent: its KillMode is not process",
        "systemctl --user revert u.service",
      ],
    ],
  ],
  ["stopped", facts({}, { state: "inactive" }), [["error", "it is stopped", install]]],
  [
    "failed",
    facts({}, { state: "failed", exitCode: 3 }),
    [["error", "it has failed, last exit code 3", "the log"]],
  ],
  ["starting", facts({}, { state: "starting" }), [["error", "it is being started again", "the log"]]],
  [
    "not yet",
    facts({ supervisor: null }),
    [["error", "it runs, and does not supervise yet", "convoy ls --network n"]],
  ],
  [
    "beside another",
    facts({ supervisor: { pid: 9, version: "0" } }),
    [["warning", "it waits for another supervisor, pid 9, to end (its agents live on)", "kill 9"]],
  ],
  [
    "an older one runs",
    facts({ supervisor: { pid: 7, version: "0" } }),
    [["warning", "version 0 runs, this is 1", install]],
  ],
  [
    "does not linger",
    facts({ lingering: false }),
    [
      [
        "error",
        "it ends with your last logout, and every agent that it started with it: ann does not linger",
        "loginctl enable-linger ann",
      ],
    ],
  ],
])("%s", (_, given, expected) => {
  expect(
    judgeService(given, " --network n").map(({ severity, message, next }) => [severity, message, next]),
  ).toEqual(expected as never);
});

import { expect, test } from "bun:test";
import type { ServiceFacts, ServiceRun } from "./service-status.ts";
import { installSteps, type ServiceStep, uninstallSteps } from "./service-steps.ts";

const ABSENT: ServiceRun = {
  loaded: false,
  stale: false,
  enabled: null,
  state: "inactive",
  pid: null,
  exitCode: null,
  spares: null,
};
const RUNS: ServiceRun = { ...ABSENT, loaded: true, enabled: true, state: "active", pid: 7, spares: true };

function facts(over: Partial<ServiceFacts>): ServiceFacts {
  return {
    manager: "systemd",
    unit: "u",
    path: "/u",
    file: "current",
    binary: "/b",
    binaryState: "this",
    run: RUNS,
    supervisor: { pid: 7, version: "1" },
    lingering: true,
    user: "ann",
    version: "1",
    logCommand: "",
    ...over,
  };
}

/** As lines; `?` after what is tried, `*` after what is tried again. */
const shown = (steps: readonly ServiceStep[]) =>
  steps.map((step) => {
    if (step.kind !== "run") return step.kind;
    const mark = step.optional === true ? "?" : step.tries === undefined ? "" : "*";
    return step.words.join(" ").replace("systemctl --user ", "") + mark;
  });

const WANTED = { text: "T", linger: true, uid: 501 };
const DIFFERS = { file: "differs" } as const;
const MISSING = { file: "missing" } as const;

test.each<[string, Partial<ServiceFacts>, ServiceRun, string[]]>([
  [
    "from nothing",
    { ...MISSING, lingering: false },
    ABSENT,
    ["write", "daemon-reload", "enable u", "start u", "loginctl enable-linger ann?"],
  ],
  ["nothing to do", {}, RUNS, []],
  ["other text", DIFFERS, RUNS, ["write", "daemon-reload", "enable u", "check-spares", "restart u"]],
  [
    "not read again",
    {},
    { ...RUNS, stale: true },
    ["daemon-reload", "enable u", "check-spares", "restart u"],
  ],
  ["another version", { version: "2" }, RUNS, ["check-spares", "restart u"]],
  ["another's supervisor", { version: "2", supervisor: { pid: 9, version: "1" } }, RUNS, []],
  ["stopped", {}, { ...RUNS, state: "inactive" }, ["start u"]],
  ["failed", {}, { ...RUNS, state: "failed" }, ["start u"]],
  ["between two tries", {}, { ...RUNS, state: "starting" }, ["check-spares", "restart u"]],
  ["disabled", {}, { ...RUNS, enabled: false }, ["enable u"]],
])("install on systemd: %s", (_, over, run, expected) => {
  expect(shown(installSteps(facts(over), WANTED, run))).toEqual(expected);
});

test("no lingering where it is not wanted, or cannot be told", () => {
  expect(installSteps(facts({ lingering: false }), { ...WANTED, linger: false }, RUNS)).toEqual([]);
  expect(installSteps(facts({ lingering: null }), WANTED, RUNS)).toEqual([]);
});

test.each<[string, Partial<ServiceFacts>, ServiceRun, string[]]>([
  ["as installed", {}, RUNS, ["check-spares", "disable --now u", "remove", "daemon-reload"]],
  ["stopped", {}, { ...RUNS, state: "inactive" }, ["disable --now u", "remove", "daemon-reload"]],
  ["file removed by hand", MISSING, RUNS, ["check-spares", "stop u", "daemon-reload"]],
  ["nothing there", MISSING, ABSENT, []],
])("uninstall on systemd: %s", (_, over, run, expected) => {
  expect(shown(uninstallSteps(facts(over), 501, run))).toEqual(expected);
});

const BOOTSTRAP = ["launchctl enable gui/501/u", "launchctl bootstrap gui/501 /u*"];
test.each<[string, Partial<ServiceFacts>, ServiceRun, string[]]>([
  ["from nothing", MISSING, ABSENT, ["write", ...BOOTSTRAP]],
  ["nothing to do", {}, RUNS, []],
  ["other text", DIFFERS, RUNS, ["write", "launchctl bootout gui/501/u", ...BOOTSTRAP]],
  ["another version", { version: "2" }, RUNS, ["launchctl kickstart -k gui/501/u"]],
  ["between two tries", {}, { ...RUNS, state: "starting" }, ["launchctl kickstart -k gui/501/u"]],
])("install on launchd: %s", (_, over, run, expected) => {
  expect(shown(installSteps(facts({ manager: "launchd", lingering: null, ...over }), WANTED, run))).toEqual(
    expected,
  );
});

test("uninstall on launchd", () => {
  const agent = facts({ manager: "launchd" });
  expect(shown(uninstallSteps(agent, 501, RUNS))).toEqual(["launchctl bootout gui/501/u", "remove"]);
  expect(shown(uninstallSteps({ ...agent, ...MISSING }, 501, ABSENT))).toEqual([]);
});

test("the text is written where the manager looks for it", () => {
  expect(installSteps(facts(MISSING), WANTED, ABSENT)[0]).toEqual({ kind: "write", path: "/u", text: "T" });
});

import { expect, test } from "bun:test";
import { parseUnitState } from "./systemd-state.ts";

const show = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");

test.each([
  [
    "one that runs",
    {
      LoadState: "loaded",
      UnitFileState: "enabled",
      NeedDaemonReload: "no",
      ActiveState: "active",
      MainPID: 7,
      ExecMainStatus: 0,
      ExecMainExitTimestampMonotonic: 0,
      KillMode: "process",
    },
    { loaded: true, stale: false, enabled: true, state: "active", pid: 7, exitCode: null, spares: true },
  ],
  [
    "one that is tried again",
    {
      LoadState: "loaded",
      UnitFileState: "disabled",
      NeedDaemonReload: "yes",
      ActiveState: "activating",
      MainPID: 0,
      ExecMainStatus: 127,
      ExecMainExitTimestampMonotonic: 12,
      KillMode: "control-group",
    },
    { loaded: true, stale: true, enabled: false, state: "starting", pid: null, exitCode: 127, spares: false },
  ],
  [
    "one that is not there",
    { LoadState: "not-found", UnitFileState: "", ActiveState: "inactive", MainPID: 0, KillMode: "mixed" },
    {
      loaded: false,
      stale: false,
      enabled: null,
      state: "inactive",
      pid: null,
      exitCode: null,
      spares: false,
    },
  ],
  [
    "nothing at all",
    {},
    {
      loaded: false,
      stale: false,
      enabled: null,
      state: "inactive",
      pid: null,
      exitCode: null,
      spares: null,
    },
  ],
])("%s", (_, values, run) => {
  expect(parseUnitState(show(values as Record<string, string>))).toEqual(run as never);
});

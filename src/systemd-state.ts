/** `systemctl show` of a unit, as `NAME=value` lines. */
import type { ServiceRun } from "./service-status.ts";

export const UNIT_PROPERTIES = [
  "LoadState",
  "UnitFileState",
  "NeedDaemonReload",
  "ActiveState",
  "MainPID",
  "ExecMainStatus",
  "ExecMainExitTimestampMonotonic",
  "KillMode",
] as const;

const STATES: Readonly<Record<string, ServiceRun["state"]>> = {
  active: "active",
  reloading: "active",
  // Between two tries of `Restart=always`, too.
  activating: "starting",
  deactivating: "starting",
  failed: "failed",
};

/** A property that is missing says nothing. */
export function parseUnitState(text: string): ServiceRun {
  const values = new Map(
    text
      .split("\n")
      .map((line) => line.split("="))
      .map(([name = "", ...rest]) => [name, rest.join("=")]),
  );
  const ended = Number(values.get("ExecMainExitTimestampMonotonic") ?? 0) > 0;
  const enabled = values.get("UnitFileState") ?? "";
  const killMode = values.get("KillMode") ?? "";
  return {
    loaded: values.get("LoadState") === "loaded",
    stale: values.get("NeedDaemonReload") === "yes",
    enabled: enabled === "" ? null : enabled.startsWith("enabled"),
    state: STATES[values.get("ActiveState") ?? ""] ?? "inactive",
    pid: positive(values.get("MainPID")),
    exitCode: ended ? Number(values.get("ExecMainStatus") ?? 0) : null,
    spares: killMode === "" ? null : killMode === "process" || killMode === "none",
  };
}

function positive(text: string | undefined): number | null {
  const number = Number(text ?? 0);
  return number > 0 ? number : null;
}

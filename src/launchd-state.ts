/** `launchctl print` of an agent: lines `name = value`, nested by tabs. */
import type { ServiceRun } from "./service-status.ts";

/** What launchctl answers for an agent that it does not know: "Could not find service", errno 113. */
export const NO_SUCH_AGENT = 113;

export function parseAgentState(text: string): ServiceRun {
  const member = (name: string) => new RegExp(`^\\t${name} = (.*)$`, "m").exec(text)?.[1] ?? null;
  const pid = numberIn(member("pid"));
  return {
    loaded: true,
    stale: false,
    enabled: null,
    state: pid === null ? "starting" : "active",
    pid,
    exitCode: numberIn(member("last exit code")),
    spares: null,
  };
}

export const NOT_LOADED: ServiceRun = {
  loaded: false,
  stale: false,
  enabled: null,
  state: "inactive",
  pid: null,
  exitCode: null,
  spares: null,
};

function numberIn(text: string | null): number | null {
  const digits = /^\d+/.exec(text ?? "");
  return digits === null ? null : Number(digits[0]);
}

/** What came of a pass: accounting for launches that failed, events, counts and the exit code. Pure. */
import { classifyDeath } from "./death.ts";
import type { EventBody, TrustFileReport } from "./events.ts";
import { decideFailedLaunch } from "./flapping-cap.ts";
import { lastRunEnd } from "./run-ends.ts";
import type { DeathNotice, Decision, LaunchAction, ParkAction } from "./world.ts";

/** What a launch came to; the launcher's port returns the first four, the last is a look before it. */
export type LaunchOutcome =
  | { readonly result: "started"; readonly pid: number; readonly hostPid: number }
  | { readonly result: "starting"; readonly hostPid: number }
  | { readonly result: "failed"; readonly error: string }
  | { readonly result: "refused"; readonly reason: "held" | "alive" | "unknown" }
  | { readonly result: "survivors"; readonly pids: readonly number[] };

/** What a launch's outcome asks for: events to say, and a patch to the session's tags. */
export interface LaunchSettlement {
  readonly events: readonly EventBody[];
  /** Also marks the ledger's launch as failed. */
  readonly patch: { readonly set: Record<string, string>; readonly remove: string[] } | null;
}

function aboutLaunch({ identity, busId, spec }: LaunchAction) {
  return { identity, busId, session: spec.name };
}

/** `now` is the time of the outcome. */
export function settleLaunch(
  action: LaunchAction,
  outcome: LaunchOutcome,
  now: Date,
  cap: Cap,
): LaunchSettlement {
  const about = aboutLaunch(action);
  switch (outcome.result) {
    case "started":
      return { events: [startedEvent(action, outcome.pid, outcome.hostPid)], patch: null };
    case "starting":
      return { events: [startedEvent(action, null, outcome.hostPid)], patch: null };
    case "refused":
      return { events: [], patch: null };
    case "survivors":
      return { events: [{ type: "survivor", ...about, pids: outcome.pids }], patch: null };
    case "failed": {
      const { command, args } = action.spec;
      const decided = decideFailedLaunch({
        tags: action.tagsBefore,
        command,
        args,
        exitedAt: null,
        now,
        ...cap,
      });
      const { fastFails, limit, windowSeconds, set, remove } = decided;
      const events: EventBody[] = [
        { type: "launch_failed", ...about, error: outcome.error, fastFails, limit },
      ];
      if (decided.action === "flap")
        events.push({ type: "session_flapping", ...about, counter: fastFails, limit, window: windowSeconds });
      return { events, patch: { set, remove } };
    }
  }
}

/** The supervisor's own bounds, where its command line gave some. */
export interface Cap {
  readonly windowSeconds?: number;
  readonly limit?: number;
}

function startedEvent(action: LaunchAction, pid: number | null, hostPid: number): EventBody {
  const about = aboutLaunch(action);
  switch (action.kind) {
    case "launch":
      return { type: "launch", ...about, pid, hostPid, reason: action.reason };
    case "respawn":
      return { type: "respawn", ...about, pid, fastFails: action.fastFails, limit: action.limit };
    case "heal":
      return { type: "heal", ...about, task: action.spec.task, pid };
  }
}

/** The `death` event of an end nobody was told of. */
export function deathEvent({ identity, busId, session }: DeathNotice): EventBody {
  const status = session.status === "exited" ? "exited" : "vanished";
  const { kind, message } = classifyDeath(status, session.exitCode);
  const { lastLines } = lastRunEnd(session);
  const lastLine = lastLines.findLast((line) => line.trim() !== "") ?? null;
  return {
    type: "death",
    identity,
    busId,
    session: session.name,
    kind,
    exitCode: session.exitCode,
    message,
    lastLine,
  };
}

/** The `session_flapping` event of a session that is parked. */
export function flappingEvent({
  identity,
  busId,
  session,
  counter,
  limit,
  windowSeconds,
}: ParkAction): EventBody {
  return { type: "session_flapping", identity, busId, session, counter, limit, window: windowSeconds };
}

/** Everything that carrying out a decision came to. */
export interface Outcomes {
  readonly launches: readonly { readonly action: LaunchAction; readonly outcome: LaunchOutcome }[];
  readonly tornDown: number;
  readonly teardownFailed: number;
  readonly trust: readonly TrustFileReport[];
}

export interface Settlement {
  readonly summary: Extract<EventBody, { type: "once_summary" }>;
  /** Of `up --once`: 0 or 1. */
  readonly exitCode: number;
}

const FINE_TO_LEAVE = new Set(["held", "done"]);

/** The counts of a pass, and the exit code that `up --once` ends with. */
export function settle(decision: Decision, outcomes: Outcomes): Settlement {
  const rows = decision.agents.map((agent) => agent.row);
  const blocked = (reason: string) => rows.filter((row) => row.blocked === reason).length;
  const mains = outcomes.launches.filter(({ action }) => action.spec.main);
  const failedLaunches = outcomes.launches.filter(({ outcome }) => isFailure(outcome)).length;
  const summary = {
    type: "once_summary",
    launched: mains.filter(({ outcome }) => outcome.result.startsWith("start")).length,
    adopted: rows.filter((row) => row.disposition === "adopt" && row.blocked === null).length,
    torndown: outcomes.tornDown,
    parked: blocked("parked"),
    waiting: blocked("waiting"),
    held: blocked("held"),
    failed: failedLaunches + outcomes.teardownFailed,
  } as const;
  const troubled =
    decision.problems.some((problem) => problem.severity === "error") ||
    rows.some((row) => row.blocked !== null && !FINE_TO_LEAVE.has(row.blocked)) ||
    outcomes.trust.some((file) => file.problem !== null) ||
    summary.failed > 0;
  return { summary, exitCode: troubled ? 1 : 0 };
}

/** A launch refused because somebody held or started it meanwhile is as it should be. */
function isFailure(outcome: LaunchOutcome): boolean {
  if (outcome.result === "refused") return outcome.reason === "unknown";
  return outcome.result === "failed" || outcome.result === "survivors";
}

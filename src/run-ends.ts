/** How the runs of a session ended, in the words of every command that shows them. */
import { classifyDeath } from "./death.ts";
import type { RunEnd } from "./ledger.ts";
import type { ObservedSession } from "./session.ts";

/**
 * The end of a dead session's last run. The ledger knows most of it; where another program ran the session since,
 * the record does. A run whose end nobody saw has no exit code, no time and no lines.
 */
export function lastRunEnd({ ledger, record, exitCode, exitedAt }: ObservedSession): RunEnd {
  const end = ledger?.end ?? null;
  if (end !== null && end.exitedAt === exitedAt && end.exitCode === exitCode) return end;
  const seen = exitCode !== null || exitedAt !== null;
  return { exitCode, exitedAt, lastLines: seen ? (record?.lastLines ?? []) : [], error: null };
}

/**
 * The run before this one: before the one that lives, or, when none lives, the last. Null when there was none.
 */
export function runBefore(session: ObservedSession, isLive: boolean): RunEnd | null {
  return isLive ? (session.ledger?.previous[0] ?? null) : lastRunEnd(session);
}

/** `exit code 137 (SIGKILL)`, `vanished (hard death — no exit record)`, `could not be started: …`. */
export function describeRunEnd({ exitCode, exitedAt, error }: RunEnd): string {
  if (error !== null) return `could not be started: ${error}`;
  const vanished = exitCode === null && exitedAt === null;
  const { message, signal } = classifyDeath(vanished ? "vanished" : "exited", exitCode);
  return signal === null ? message : `${message} (${signal})`;
}

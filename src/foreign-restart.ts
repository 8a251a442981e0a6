/**
 * `pty restart` ends a session, and starts it itself a moment later, without a lock that would tell of it: between the
 * two nothing shows that it is at work (docs/decisions/0048-room-for-a-restart.md).
 */
import type { ObservedSession } from "./session.ts";

/** How long after such an end the other program's host must have shown itself; that takes a quarter of a second. */
export const RESTART_GAP_MS = 3_000;

/**
 * How many ms are still to be waited before this dead session is launched, for another program may be about to start
 * it: it has told convoy's host to end, or the run that ended was its own. 0 for every other end, and for one that is
 * long past. `pty kill` takes the tag `strategy` away before it ends anything: it is not waited for.
 */
export function restartGapMs(session: ObservedSession, now: Date): number {
  const { ledger, record, exitedAt } = session;
  const foreign =
    record != null && (ledger == null || Date.parse(record.createdAt) > Date.parse(ledger.launchedAt));
  const toldToEnd = ledger?.terminated === true && ledger.endedBy === null;
  const killed = ledger?.tags.strategy !== undefined && record != null && record.tags?.strategy === undefined;
  if ((!foreign && !toldToEnd) || killed) return 0;
  if (exitedAt === null) return RESTART_GAP_MS;
  const sinceMs = now.getTime() - Date.parse(exitedAt);
  return sinceMs >= 0 && sinceMs < RESTART_GAP_MS ? RESTART_GAP_MS - sinceMs : 0;
}

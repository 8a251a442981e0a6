/**
 * The time after a write in which another program may still put back what it had read before: Claude Code 2.1.197 reads,
 * writes `<file>.tmp.<pid>.<rand>`, flushes it and renames it, and does so without its lock when that is taken.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import process from "node:process";
import { systemClock } from "../system/clock.ts";
import { identityOf } from "../system/processes.ts";
import { type ConfigLook, readConfig } from "./config-file.ts";

/** From a program's look at the file to its temporary file; flushing that takes longer, but is seen. */
const QUIET_MS = 100;
/** The same where others are at work on the file, so that many may wait for few processors. */
const BUSY_MS = 1_000;
/** For a temporary file that does not go away, though the process it names lives. */
const MAX_MS = 5_000;
/** A file that was written within this time is one that others are at work on. */
const RECENT_MS = 10_000;
const LOOK_MS = 10;

/**
 * Looks at the file from right after our write until nobody can still be on the way to undo it: for 100 ms, for a
 * second where somebody wrote shortly before us (`before`) or since, and as long as a living process has a temporary
 * file beside it, 5 s at most. `undone` is asked whenever the file is another; its first answer that is not null is the
 * result, null when there is none. Throws the system's error.
 */
export async function untilUndone<T>(
  path: string,
  before: ConfigLook,
  undone: (look: ConfigLook) => T | null,
): Promise<T | null> {
  const start = performance.now();
  let look = before;
  let seen: string | null = null;
  let busy = wasRecent(before);
  while (true) {
    const elapsed = performance.now() - start;
    const waited = elapsed >= (busy ? BUSY_MS : QUIET_MS);
    // Before the look: who is gone from here has put what it had where it is seen.
    const over = elapsed >= MAX_MS || (waited && !isBeingWritten(look.target));
    const state = stateOf(path);
    if (state !== seen) {
      look = readConfig(path);
      const found = undone(look);
      if (found !== null) return found;
      busy ||= seen !== null;
      seen = state;
    }
    if (over) return null;
    await systemClock.sleep(LOOK_MS);
  }
}

function wasRecent({ content }: ConfigLook): boolean {
  return content !== null && Math.abs(Date.now() - Number(content.stat.mtimeMs)) < RECENT_MS;
}

/** Which bytes stand there, without reading them. */
function stateOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "none" : [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}

/** Whether a living process has a temporary file beside the config. */
function isBeingWritten(target: string): boolean {
  const prefix = `${basename(target)}.tmp.`;
  return readdirSync(dirname(target))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number.parseInt(name.slice(prefix.length), 10))
    .some((pid) => pid !== process.pid && identityOf(pid) !== null);
}

/** The lock that Claude Code takes around its own writes: the folder `<file>.lock`, as proper-lockfile makes it. */
import type { LockOptions } from "proper-lockfile";
import { errnoOf, messageOf } from "../errors.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";

/** A holder refreshes its lock every 5 s; one that has not for this long is dead, and its lock is broken. */
const STALE_MS = 10_000;
/** Longer than `STALE_MS`, so that what a dead process left never costs more than this. */
export const LOCK_WAIT_MS = 12_000;
const POLL_MS = 5;

export interface ConfigLock {
  /** False once somebody else took the lock over. */
  isHeld(): boolean;
  /** Answers why the lock could not be removed, or null. */
  release(): Promise<string | null>;
}

/**
 * Takes the lock beside `path` itself, never beside what it links to. Waits for a holder, `waitMs` at most; throws an
 * error that names the lock, or the system's.
 */
export async function acquireConfigLock(path: string, waitMs: number = LOCK_WAIT_MS): Promise<ConfigLock> {
  // Loaded late: most passes write nothing, and loading it installs handlers for signals.
  const { lock } = await import("proper-lockfile");
  const deadline = performance.now() + waitMs;
  let held = true;
  const options: LockOptions = {
    realpath: false,
    stale: STALE_MS,
    retries: 0,
    onCompromised: () => {
      held = false;
    },
  };
  while (true) {
    try {
      const release = await lock(path, options);
      effect("config-lock-take");
      return { isHeld: () => held, release: () => releaseLock(path, release) };
    } catch (error) {
      if (errnoOf(error) !== "ELOCKED") throw error;
    }
    if (performance.now() >= deadline) {
      throw new Error(
        `${path}.lock has been held by another process for ${Math.round(waitMs / 1000)} s; end that process`,
      );
    }
    await systemClock.sleep(POLL_MS + Math.random() * POLL_MS);
  }
}

async function releaseLock(path: string, release: () => Promise<void>): Promise<string | null> {
  try {
    await release();
    effect("config-lock-release");
    return null;
  } catch (error) {
    // Taken over by another process: it is no longer ours to remove.
    if (["ERELEASED", "ENOTACQUIRED"].includes(errnoOf(error) ?? "")) return null;
    return `${path}.lock could not be removed: ${messageOf(error)}`;
  }
}

/** The files of one network's sessions, as a session host and its launcher use them. */
import { dirname } from "node:path";
import type { Ledger } from "../ledger.ts";
import type { SessionRecord } from "../session.ts";
import { withLockFile } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { changeLedger, changeRecord, ensureFolder, readLedger } from "./changes.ts";
import { appendSessionEvent } from "./session-events.ts";

/** A launch waits for its agent to run; a second one waits as long before it says busy. */
const LAUNCH_LOCK_WAIT_MS = 15_000;

/** Session files of the pty folder `registry` (absolute). */
export function createSessionFiles(registry: string) {
  return {
    /** Null when there is none; throws a `ConvoyError` when it cannot be read or is torn. */
    readLedger: (name: string): Ledger | null => readLedger(registry, name),
    changeLedger: (name: string, change: (ledger: Ledger | null) => Ledger | null) =>
      changeLedger(registry, name, change),
    changeRecord: (name: string, change: (record: SessionRecord | null) => SessionRecord | null) =>
      changeRecord(registry, name, change),
    appendEvent: (name: string, event: { readonly type: string; readonly [member: string]: unknown }) =>
      appendSessionEvent(registry, name, event),
    /** Runs `body` under the lock that one launch, or one teardown's look, holds. */
    withLaunchLock: <T>(name: string, body: () => Promise<T>): Promise<T> =>
      withLaunchLock(registry, name, body),
  };
}

/** Runs `body` while holding the launch lock of session `name`; waits for another holder for 15 s. */
export async function withLaunchLock<T>(registry: string, name: string, body: () => Promise<T>): Promise<T> {
  const path = sessionPaths(registry, name).launchLock;
  ensureFolder(dirname(path));
  return await withLockFile(path, body, { waitMs: LAUNCH_LOCK_WAIT_MS, identity: true });
}

/** Removes what killed writers left in the network's own folders: `<target>.tmp.<pid>.<rand>`, and locks of the dead. */

import { join } from "node:path";
import { ConvoyError, messageOf } from "../errors.ts";
import { effect } from "../system/effects.ts";
import { isLockHeld, tryLockFile } from "../system/lock-file.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { processTable } from "../system/processes.ts";
import { removeFile } from "../system/remove-file.ts";
import { listFolder, statOf } from "./folder.ts";

const TEMPORARY = /\.tmp\.(\d+)\.[0-9a-f]+$/;
/** A lock, or what one that breaks a lock holds for a moment. */
const LOCK = /\.lock(?:\.break\.tmp)?$/;
/** A temporary file lives for milliseconds; a younger one may be that of a process whose pid we misread. */
const AGE_MS = 60_000;

/**
 * Removes what writers that are dead left more than a minute ago; returns how many files. Called by `up` alone, for a
 * listing must change nothing. Throws a `ConvoyError` when one cannot be removed.
 */
export function sweepTemporaries(paths: Pick<NetworkPaths, "pty" | "state" | "ledgers">): number {
  let removed = 0;
  for (const folder of [paths.pty, paths.state, paths.ledgers]) {
    for (const entry of listFolder(folder)) {
      const path = join(folder, entry.name);
      if (entry.isFile() && (removeTemporary(path, entry.name) || removeDeadLock(path, entry.name)))
        removed += 1;
    }
  }
  return removed;
}

function removeTemporary(path: string, name: string): boolean {
  const pid = Number(TEMPORARY.exec(name)?.[1] ?? 0);
  if (pid === 0) return false;
  const row = processTable.row(pid);
  const writerIsGone = row === null || (row !== "hidden" && row.zombie);
  if (!writerIsGone || !isOld(path)) return false;
  try {
    removeFile(path);
  } catch (error) {
    throw new ConvoyError("failed", `cannot remove ${path}: ${messageOf(error)}`);
  }
  effect("temporary-remove");
  return true;
}

/** Taken over as anybody who wants it may, and let go. */
function removeDeadLock(path: string, name: string): boolean {
  if (!LOCK.test(name) || !isOld(path) || isLockHeld(path)) return false;
  const release = tryLockFile(path);
  release?.();
  return release !== null;
}

function isOld(path: string): boolean {
  const writtenMs = statOf(path)?.mtimeMs;
  return writtenMs !== undefined && Date.now() - writtenMs > AGE_MS;
}

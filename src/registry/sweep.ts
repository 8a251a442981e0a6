/** Removes temporary files that killed writers left behind: `<target>.tmp.<pid>.<rand>` in the network's own folders. */

import { join } from "node:path";
import { ConvoyError, messageOf } from "../errors.ts";
import { effect } from "../system/effects.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { processTable } from "../system/processes.ts";
import { removeFile } from "../system/remove-file.ts";
import { listFolder, statOf } from "./folder.ts";

const TEMPORARY = /\.tmp\.(\d+)\.[0-9a-f]+$/;
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
      if (!entry.isFile() || !isLeftover(path, entry.name)) continue;
      try {
        removeFile(path);
        effect("temporary-remove");
      } catch (error) {
        throw new ConvoyError("failed", `cannot remove ${path}: ${messageOf(error)}`);
      }
      removed += 1;
    }
  }
  return removed;
}

function isLeftover(path: string, name: string): boolean {
  const pid = Number(TEMPORARY.exec(name)?.[1] ?? 0);
  if (pid === 0) return false;
  const row = processTable.row(pid);
  const writerIsGone = row === null || (row !== "hidden" && row.zombie);
  const writtenMs = statOf(path)?.mtimeMs;
  return writerIsGone && writtenMs !== undefined && Date.now() - writtenMs > AGE_MS;
}

/** The lock files of a network, and whether somebody alive holds them. Nothing is changed. */
import { join } from "node:path";
import type { LockFacts } from "../network-checks.ts";
import { isLockHeld } from "../system/lock-file.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { listFolder, statOf } from "./folder.ts";

const LOCK = /\.lock(?:\.break\.tmp)?$/;

export function listLocks(
  paths: Pick<NetworkPaths, "pty" | "state" | "ledgers">,
  nowMs: number,
): LockFacts[] {
  return [paths.pty, paths.state, paths.ledgers].flatMap((folder) =>
    listFolder(folder)
      .filter((entry) => entry.isFile() && LOCK.test(entry.name))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        const stat = statOf(path);
        return stat === undefined ? [] : [{ path, held: isLockHeld(path), ageMs: nowMs - stat.mtimeMs }];
      }),
  );
}

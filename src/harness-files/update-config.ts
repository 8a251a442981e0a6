/** Read, merge and write back a config file that other programs write too. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { errnoOf, messageOf } from "../errors.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import type { ConfigFile, ConfigUpdate, TrustMerge } from "../trust.ts";
import { type ConfigLook, decodeConfig, isUnchanged, readConfig } from "./config-file.ts";
import { acquireConfigLock, LOCK_WAIT_MS } from "./config-lock.ts";

/** How often to begin again because another program wrote between our look and our rename. */
const ATTEMPTS = 20;
/** A file that some program writes in place can be seen half written; it is looked at again after this. */
const SECOND_LOOK_MS = 50;

type Merge = (text: string | null) => TrustMerge | null;
interface Merged {
  readonly look: ConfigLook;
  readonly merged: TrustMerge | null;
}

/**
 * Writes once, or not at all when `merge` finds nothing missing; then no lock is taken either. The file's links, mode
 * and owner stay; a new file has mode 0600. On any problem the file is byte for byte as it was.
 */
export async function updateConfig(
  file: ConfigFile,
  merge: Merge,
  lockWaitMs: number = LOCK_WAIT_MS,
): Promise<ConfigUpdate> {
  try {
    let first = mergeLook(readConfig(file.path), merge);
    if (isProblem(first.merged)) {
      await systemClock.sleep(SECOND_LOOK_MS);
      first = mergeLook(readConfig(file.path), merge, first);
    }
    if (!isChange(first.merged)) return settled(file, first.merged);
    if (file.folder !== null) makeFolder(file.folder);
    if (!file.locked) return await writeMerged(file, merge, first, () => true);
    const lock = await acquireConfigLock(file.path, lockWaitMs);
    let outcome: ConfigUpdate | null = null;
    let leftBehind: string | null = null;
    try {
      outcome = await writeMerged(file, merge, first, lock.isHeld);
    } finally {
      leftBehind = await lock.release();
    }
    return { ...outcome, problem: outcome.problem ?? leftBehind };
  } catch (error) {
    return { merged: null, written: false, problem: describe(file, error) };
  }
}

/** What `updateConfig` would do, without doing it: `written` says that it would write. */
export async function lookAtConfig(file: ConfigFile, merge: Merge): Promise<ConfigUpdate> {
  try {
    const { merged } = mergeLook(readConfig(file.path), merge);
    return isChange(merged) ? { merged, written: true, problem: null } : settled(file, merged);
  } catch (error) {
    return { merged: null, written: false, problem: describe(file, error) };
  }
}

/** Looks again each time; the merge is done again only when other bytes are found. */
async function writeMerged(
  file: ConfigFile,
  merge: Merge,
  first: Merged,
  isHeld: () => boolean,
): Promise<ConfigUpdate> {
  let last = first;
  for (let attempt = 0; attempt < ATTEMPTS && isHeld(); attempt += 1) {
    last = mergeLook(readConfig(file.path), merge, last);
    const { look, merged } = last;
    if (!isChange(merged)) return settled(file, merged);
    if (replace(look, merged.text, isHeld)) {
      effect("trust-write");
      return { merged, written: true, problem: null };
    }
    // Lets the lock be refreshed, or be seen as lost.
    await systemClock.sleep(0);
  }
  const problem = isHeld() ? "other programs keep writing it" : `another process took over ${file.path}.lock`;
  return { merged: null, written: false, problem: `${file.path}: ${problem}; try again` };
}

function mergeLook(look: ConfigLook, merge: Merge, before?: Merged): Merged {
  const bytes = look.content?.bytes ?? null;
  const old = before?.look.content?.bytes ?? null;
  const same = before !== undefined && (bytes === null || old === null ? bytes === old : bytes.equals(old));
  if (same) return { look, merged: before.merged };
  return { look, merged: merge(bytes === null ? null : decodeConfig(bytes)) };
}

/** False when the file is no longer the one that was merged. */
function replace(look: ConfigLook, text: string, isHeld: () => boolean): boolean {
  const stillWanted = () => isHeld() && isUnchanged(look);
  const stat = look.content?.stat;
  if (stat === undefined) return writeFileAtomic(look.target, text, { mode: 0o600, sync: true, stillWanted });
  const mode = Number(stat.mode) & 0o7777;
  // Asked of the bits as well, since root may write anything.
  if ((mode & 0o222) === 0) throw new Error(`${look.target} is read-only`);
  accessSync(look.target, constants.W_OK);
  const owner = { uid: Number(stat.uid), gid: Number(stat.gid) };
  return writeFileAtomic(look.target, text, { mode, owner, sync: true, stillWanted });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    effect("folder-create");
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function isChange(merged: TrustMerge | null): merged is Extract<TrustMerge, { text: string }> {
  return merged !== null && !("problem" in merged) && merged.changed;
}

function isProblem(merged: TrustMerge | null): boolean {
  return merged !== null && "problem" in merged;
}

function settled(file: ConfigFile, merged: TrustMerge | null): ConfigUpdate {
  const problem = merged !== null && "problem" in merged ? merged.problem : null;
  return { merged, written: false, problem: problem === null ? null : leftAlone(file, problem) };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on the disk",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOENT: "a folder on the way to it does not exist",
  ENOTDIR: "something on the way to it is not a folder",
  EBUSY: "it is in use as a mount point",
};

function describe(file: ConfigFile, error: unknown): string {
  const message = messageOf(error);
  const reason = REASONS[errnoOf(error) ?? ""];
  if (reason !== undefined) return leftAlone(file, `${reason} (${message})`);
  if (errnoOf(error) === "ERR_ENCODING_INVALID_ENCODED_DATA") return leftAlone(file, "it is not valid UTF-8");
  return leftAlone(file, message);
}

function leftAlone(file: ConfigFile, reason: string): string {
  return `${file.path}: ${reason}; it was left as it is, so its program may ask whether to trust the folder`;
}

/** Read, merge and write back a config file that other programs write too. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { errnoOf, messageOf } from "../errors.ts";
import { type PreparedFile, prepareFile } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import type { ConfigFile, ConfigUpdate, TrustMerge } from "../trust.ts";
import { type ConfigLook, decodeConfig, isUnchanged, readConfig } from "./config-file.ts";
import { acquireConfigLock, type ConfigLock, LOCK_WAIT_MS } from "./config-lock.ts";
import { untilUndone } from "./config-settle.ts";

/** How often to begin again because another program wrote between our look and our rename. */
const ATTEMPTS = 20;
/** How often to write again what another program has undone. */
const REPAIRS = 50;
/** A file that some program writes in place can be seen half written; it is looked at again after this. */
const SECOND_LOOK_MS = 50;

type Merge = (text: string | null) => TrustMerge | null;
interface Merged {
  readonly look: ConfigLook;
  readonly merged: TrustMerge | null;
}
type Change = Merged & { readonly merged: Extract<TrustMerge, { text: string }> };

/**
 * Adds what `merge` finds missing, or writes nothing and takes no lock. The file's links, mode and owner stay; a new
 * file has mode 0600. On any problem with the first write the file is byte for byte as it was. A program that had read
 * the file before, and put its own copy over ours, is outwaited, and what it undid is written again
 * (docs/decisions/0050-trust-is-looked-at-again.md).
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
    if (!isChange(first)) return settled(file, first.merged);
    if (file.folder !== null) makeFolder(file.folder);
    const outcome = await writeChange(file, merge, first, lockWaitMs);
    return outcome.written ? await keepWritten(file, merge, first.look, outcome, lockWaitMs) : outcome;
  } catch (error) {
    return { merged: null, written: false, problem: describe(file, error) };
  }
}

/** What `updateConfig` would do, without doing it: `written` says that it would write. */
export async function lookAtConfig(file: ConfigFile, merge: Merge): Promise<ConfigUpdate> {
  try {
    const { merged } = mergeLook(readConfig(file.path), merge);
    return isChangeIn(merged) ? { merged, written: true, problem: null } : settled(file, merged);
  } catch (error) {
    return { merged: null, written: false, problem: describe(file, error) };
  }
}

/**
 * One write. The new file is complete before the lock is taken, which is then held for no more than a look and a
 * rename: a harness that finds the lock taken writes without it.
 */
async function writeChange(
  file: ConfigFile,
  merge: Merge,
  first: Change,
  lockWaitMs: number,
): Promise<ConfigUpdate> {
  const prepared = prepare(first);
  if (!file.locked) return await putChange(file, merge, { ...first, prepared }, () => true);
  let lock: ConfigLock;
  try {
    lock = await acquireConfigLock(file.path, lockWaitMs);
  } catch (error) {
    prepared.drop();
    throw error;
  }
  let outcome: ConfigUpdate | null = null;
  let leftBehind: string | null = null;
  try {
    outcome = await putChange(file, merge, { ...first, prepared }, lock.isHeld);
  } finally {
    leftBehind = await lock.release();
  }
  return { ...outcome, problem: outcome.problem ?? leftBehind };
}

/** Looks again each time; the merge is done again only when other bytes are found. */
async function putChange(
  file: ConfigFile,
  merge: Merge,
  change: Change & { readonly prepared: PreparedFile },
  isHeld: () => boolean,
): Promise<ConfigUpdate> {
  let { prepared } = change;
  let last: Change = change;
  for (let attempt = 0; attempt < ATTEMPTS && isHeld(); attempt += 1) {
    if (replaced(last, prepared, isHeld)) return { merged: last.merged, written: true, problem: null };
    // Lets the lock be refreshed, or be seen as lost.
    await systemClock.sleep(0);
    const again = mergeLook(readConfig(file.path), merge, last);
    if (!isChange(again)) return settled(file, again.merged);
    last = again;
    prepared = prepare(last);
  }
  prepared.drop();
  const problem = isHeld() ? "other programs keep writing it" : `another process took over ${file.path}.lock`;
  return { merged: last.merged, written: false, problem: `${file.path}: ${problem}; try again` };
}

/** False, with the new file gone, when the config is no longer the one that was merged. */
function replaced({ look }: Change, prepared: PreparedFile, isHeld: () => boolean): boolean {
  let wanted = false;
  try {
    wanted = isHeld() && isUnchanged(look);
  } finally {
    if (!wanted) prepared.drop();
  }
  if (!wanted) return false;
  prepared.put();
  effect("trust-write");
  return true;
}

/** Answers `outcome` once nobody is left who could undo it, whatever it took. */
async function keepWritten(
  file: ConfigFile,
  merge: Merge,
  first: ConfigLook,
  outcome: ConfigUpdate,
  lockWaitMs: number,
): Promise<ConfigUpdate> {
  try {
    let before = first;
    let ours = bytesOf(outcome);
    for (let repair = 0; repair < REPAIRS; repair += 1) {
      const undone = await untilUndone(file.path, before, (look) => {
        if (ours !== null && look.content?.bytes.equals(ours)) return null;
        const again = mergeLook(look, merge);
        return isChange(again) ? again : null;
      });
      if (undone === null) return outcome;
      const repaired = await writeChange(file, merge, undone, lockWaitMs);
      if (repaired.problem !== null) return { ...outcome, problem: repaired.problem };
      before = undone.look;
      ours = bytesOf(repaired);
    }
    return { ...outcome, problem: `${file.path}: other programs keep undoing what was written; try again` };
  } catch (error) {
    return { ...outcome, problem: `${file.path}: written, then lost sight of: ${messageOf(error)}` };
  }
}

/** What was written; null when nothing was. Known bytes need no second merge, which a large file makes dear. */
function bytesOf({ merged, written }: ConfigUpdate): Buffer | null {
  return written && isChangeIn(merged) ? Buffer.from(merged.text) : null;
}

function mergeLook(look: ConfigLook, merge: Merge, before?: Merged): Merged {
  const bytes = look.content?.bytes ?? null;
  const old = before?.look.content?.bytes ?? null;
  const same = before !== undefined && (bytes === null || old === null ? bytes === old : bytes.equals(old));
  if (same) return { look, merged: before.merged };
  return { look, merged: merge(bytes === null ? null : decodeConfig(bytes)) };
}

/** The whole new file, beside the config. */
function prepare({ look, merged: { text } }: Change): PreparedFile {
  const stat = look.content?.stat;
  if (stat === undefined) return prepareFile(look.target, text, { mode: 0o600, sync: true });
  const mode = Number(stat.mode) & 0o7777;
  // Asked of the bits as well, since root may write anything.
  if ((mode & 0o222) === 0) throw new Error(`${look.target} is read-only`);
  accessSync(look.target, constants.W_OK);
  const owner = { uid: Number(stat.uid), gid: Number(stat.gid) };
  return prepareFile(look.target, text, { mode, owner, sync: true });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
    effect("folder-create");
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function isChange(merged: Merged): merged is Change {
  return isChangeIn(merged.merged);
}

function isChangeIn(merged: TrustMerge | null): merged is Change["merged"] {
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

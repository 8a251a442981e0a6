/** Changes the tags of one session, in its record and in its ledger. */
import { ConvoyError } from "../errors.ts";
import type { Ledger } from "../ledger.ts";
import { isNoPatch, ownTags, type TagsPatch } from "../lost-tags.ts";
import { systemClock } from "../system/clock.ts";
import { sessionPaths } from "../system/paths.ts";
import { patchTags as patched, type Tags } from "../tags.ts";
import { changeLedger, changeRecord } from "./changes.ts";
import { readLedgerFile, readRecordFile } from "./files.ts";
import { LOOK_MS, MAX_LOOKS, type RecordTags, readRecordTags } from "./lost-tags.ts";

/** A program that tags without a lock may write its older copy over ours right after us; tried for so long. */
const ATTEMPTS_MS = 2_000;
const PAUSE_MS = 3;

/**
 * Sets and removes tags of session `name`, and makes convoy's earlier changes again that another writer has undone.
 * A record that is gone or torn is left to its host; a session of pty's own has no ledger. The ledger comes first: the
 * record is what is read, so that a change cut short is made again. Afterwards the record is read back. Throws a
 * `ConvoyError` when the change does not stand, or when there is neither record nor ledger to change.
 */
export async function patchTags(
  registry: string,
  name: string,
  set: Tags,
  remove: readonly string[],
): Promise<void> {
  const paths = sessionPaths(registry, name);
  const hasLedger = readLedgerFile(paths.ledger).state === "read";
  let lost: TagsPatch = { set: {}, remove: [] };
  if (hasLedger) {
    await untilExplained(paths);
    await changeLedger(registry, name, (ledger) => {
      if (ledger === null) return null;
      const record = readRecordFile(paths.record).parsed?.record ?? null;
      const found = readRecordTags(paths, ledger, record);
      lost = found.lost;
      return nextLedger(ledger, found, set, remove);
    });
  }
  const change: TagsPatch = {
    set: patched(lost.set, set, remove),
    remove: [...lost.remove, ...remove].filter((tag) => !Object.hasOwn(set, tag)),
  };
  const found = await changeUntilItStands(registry, name, change);
  if (!found && !hasLedger) {
    throw new ConvoyError("failed", `session ${name} has neither a record nor a ledger to tag`);
  }
}

/** Lets a writer that has just changed the record say so in the log. */
async function untilExplained(paths: ReturnType<typeof sessionPaths>): Promise<void> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const ledger = readLedgerFile(paths.ledger).parsed?.ledger ?? null;
    const record = readRecordFile(paths.record).parsed?.record ?? null;
    if (!readRecordTags(paths, ledger, record).unsettled) return;
    await systemClock.sleep(LOOK_MS);
  }
}

/**
 * Null when nothing changes. What a person changed in the record is convoy's knowledge too from now on; what somebody
 * has changed just now, and not explained, is not.
 */
function nextLedger(ledger: Ledger, found: RecordTags, set: Tags, remove: readonly string[]): Ledger | null {
  const { lost, unsettled } = found;
  const tags = patched(found.tags === null ? ledger.tags : withOwnTags(ledger, found.tags), set, remove);
  if (isNoPatch(lost) && Bun.deepEquals(tags, ledger.tags)) return null;
  return { ...ledger, tags, tagsAt: unsettled ? ledger.tagsAt : systemClock.now().toISOString() };
}

function withOwnTags(ledger: Ledger, now: Tags): Tags {
  const own = ownTags(ledger);
  const others = Object.entries(ledger.tags).filter(([tag]) => !own.has(tag));
  return Object.fromEntries([...others, ...Object.entries(now).filter(([tag]) => own.has(tag))]);
}

/** Whether there was a record to change. */
async function changeUntilItStands(registry: string, name: string, change: TagsPatch): Promise<boolean> {
  const { record: path } = sessionPaths(registry, name);
  let found = false;
  const deadline = performance.now() + ATTEMPTS_MS;
  while (true) {
    await changeRecord(registry, name, (record) => {
      if (record === null) return null;
      found = true;
      const tags = patched(record.tags ?? {}, change.set, change.remove);
      if (Object.keys(tags).length > 0) return { ...record, tags };
      const { tags: _, ...bare } = record;
      return bare as typeof record;
    });
    const now = readRecordFile(path).parsed?.record;
    if (!found || now === undefined || stands(now.tags ?? {}, change)) return found;
    if (performance.now() >= deadline)
      throw new ConvoyError("failed", `another program keeps undoing the tags in ${path}`, "try again");
    await systemClock.sleep(PAUSE_MS);
  }
}

function stands(tags: Tags, { set, remove }: TagsPatch): boolean {
  const there = Object.entries(set).every(([tag, value]) => Object.hasOwn(tags, tag) && tags[tag] === value);
  return there && remove.every((tag) => !Object.hasOwn(tags, tag));
}

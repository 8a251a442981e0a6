/** Changes the tags of one session, in its record and in its ledger. */
import { ConvoyError } from "../errors.ts";
import { sessionPaths } from "../system/paths.ts";
import { changeLedger, changeRecord } from "./changes.ts";
import { readLedgerFile, readRecordFile } from "./files.ts";

type Tags = Readonly<Record<string, string>>;

/** A program that tags without a lock may write its older copy over ours right after us. */
const MAX_ATTEMPTS = 5;

/**
 * Sets and removes tags of session `name`. A record that is gone or torn is left to its host; a session of pty's own
 * has no ledger. The ledger comes first: the record is what is read, so that a change cut short is made again.
 * Afterwards the record is read back. Throws a `ConvoyError` when the change does not stand, or when
 * there is neither record nor ledger to change.
 */
export async function patchTags(
  registry: string,
  name: string,
  set: Tags,
  remove: readonly string[],
): Promise<void> {
  const paths = sessionPaths(registry, name);
  const hasLedger = readLedgerFile(paths.ledger).state === "read";
  if (hasLedger) {
    await changeLedger(registry, name, (ledger) =>
      ledger === null ? null : { ...ledger, tags: patched(ledger.tags, set, remove) },
    );
  }
  let found = false;
  for (let attempt = 1; ; attempt += 1) {
    await changeRecord(registry, name, (record) => {
      if (record === null) return null;
      found = true;
      const tags = patched(record.tags ?? {}, set, remove);
      if (Object.keys(tags).length > 0) return { ...record, tags };
      const { tags: _, ...bare } = record;
      return bare as typeof record;
    });
    const tags = readRecordFile(paths.record).parsed?.record.tags;
    if (!found || tags === undefined || stands(tags, set, remove)) break;
    if (attempt >= MAX_ATTEMPTS) {
      throw new ConvoyError("failed", `another program keeps undoing the tags in ${paths.record}`);
    }
  }
  if (!found && !hasLedger) {
    throw new ConvoyError("failed", `session ${name} has neither a record nor a ledger to tag`);
  }
}

function patched(tags: Tags, set: Tags, remove: readonly string[]): Record<string, string> {
  const kept = Object.entries({ ...tags, ...set }).filter(([key]) => !remove.includes(key) || key in set);
  return Object.fromEntries(kept);
}

function stands(tags: Tags, set: Tags, remove: readonly string[]): boolean {
  const there = Object.entries(set).every(([key, value]) => tags[key] === value);
  return there && remove.every((key) => key in set || !Object.hasOwn(tags, key));
}

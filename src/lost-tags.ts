/**
 * Convoy's tags against a writer that takes no lock: pty 0.10's `tag` reads a record, changes it and renames it over,
 * and what was written in between is lost. It logs what it read and what it made of that, which tells a change that
 * was lost from one that a person made (docs/decisions/0049-lost-tags-are-found-in-the-log.md).
 */
import { ACCOUNTING_TAGS } from "./flapping-cap.ts";
import type { Ledger } from "./ledger.ts";
import type { Tags } from "./tags.ts";

/** A `tags_change` event of a session's own log: the tags as its writer read them, and as it wrote them. */
export interface TagsChange {
  /** ISO 8601, of right after its write. */
  readonly ts: string;
  readonly previous: Tags;
  readonly value: Tags;
}

export interface TagsPatch {
  readonly set: Record<string, string>;
  readonly remove: string[];
}

export interface LostTags {
  /** What makes the record say again what convoy wrote last, where another writer undid it unknowingly. */
  readonly lost: TagsPatch;
  /** Tags that differ from what convoy wrote, and no event says why: they stand, once the record has been still. */
  readonly unexplained: readonly string[];
}

/** Tags of a session that convoy writes: the accounting, and those of its launch. */
export function ownTags({ spec }: Pick<Ledger, "spec">): Set<string> {
  return new Set([...ACCOUNTING_TAGS, ...Object.keys(spec.tags)]);
}

/**
 * Compares convoy's own tags as `ledger` has them with those in the record. `changes` are the events of the session's
 * log, in any order; those before the ledger's tags were written have no say. A tag that a writer changed itself stands;
 * one that it carried over as it was before convoy's change is lost.
 */
export function findLostTags(
  ledger: Pick<Ledger, "spec" | "tags" | "tagsAt">,
  recordTags: Tags,
  changes: readonly TagsChange[],
): LostTags {
  const since = Date.parse(ledger.tagsAt ?? "");
  const later = changes.filter(({ ts }) => Date.parse(ts) >= since);
  const lost: TagsPatch = { set: {}, remove: [] };
  const unexplained: string[] = [];
  for (const tag of ownTags(ledger)) {
    const [mine, now] = [valueIn(ledger.tags, tag), valueIn(recordTags, tag)];
    if (mine === now) continue;
    const wrote = later.filter(({ value }) => valueIn(value, tag) === now);
    const meant = wrote.some(({ previous }) => valueIn(previous, tag) !== now);
    if (wrote.length === 0) unexplained.push(tag);
    else if (!meant && mine === undefined) lost.remove.push(tag);
    else if (!meant && mine !== undefined) lost.set[tag] = mine;
  }
  return { lost, unexplained };
}

/** Whether own tags in the record differ from those in the ledger at all; only then the log has to be read. */
export function differInOwnTags(ledger: Pick<Ledger, "spec" | "tags">, recordTags: Tags): boolean {
  for (const tag of ownTags(ledger)) if (valueIn(ledger.tags, tag) !== valueIn(recordTags, tag)) return true;
  return false;
}

export function isNoPatch({ set, remove }: TagsPatch): boolean {
  return remove.length === 0 && Object.keys(set).length === 0;
}

function valueIn(tags: Tags, tag: string): string | undefined {
  return Object.hasOwn(tags, tag) ? tags[tag] : undefined;
}

/** What of convoy's tags another writer has undone in a session's record, by the session's own log. */
import { isJsonObject, parseJsonObject } from "../json-members.ts";
import type { Ledger } from "../ledger.ts";
import { differInOwnTags, findLostTags, type TagsChange, type TagsPatch } from "../lost-tags.ts";
import type { SessionRecord } from "../session.ts";
import { patchTags, type Tags } from "../tags.ts";
import { readText } from "./files.ts";
import { statOf } from "./folder.ts";

/** A writer that logs its change does so right after it: a record that has been still for this long is explained. */
export const STILL_MS = 250;
/** Between two looks at a record that was changed just now, and how many there are: twice the time to be still. */
export const LOOK_MS = 25;
export const MAX_LOOKS = (2 * STILL_MS) / LOOK_MS;
const NOTHING: TagsPatch = { set: {}, remove: [] };

export interface RecordTags {
  /** To be set and removed again. */
  readonly lost: TagsPatch;
  /** The record was changed just now, and its writer may not have said yet why. */
  readonly unsettled: boolean;
  /** The record's tags with `lost` put right; null where they say nothing that convoy did not know. */
  readonly tags: Tags | null;
}

/**
 * Compares a record's tags with those of the ledger. Nothing is said of a session that is being launched, of one that
 * another program has started since, and of one without a ledger: convoy's last tags are not known there.
 */
export function readRecordTags(
  paths: { readonly record: string; readonly events: string },
  ledger: Ledger | null,
  record: SessionRecord | null,
): RecordTags {
  const now = record?.tags ?? {};
  if (ledger === null || record === null || !isComparable(ledger, record) || !differInOwnTags(ledger, now))
    return { lost: NOTHING, unsettled: false, tags: null };
  const { lost, unexplained } = findLostTags(ledger, now, readTagsChanges(paths.events));
  const unsettled = unexplained.length > 0 && isJustWritten(paths.record);
  return { lost, unsettled, tags: unsettled ? null : patchTags(now, lost.set, lost.remove) };
}

function isComparable({ launchedAt, child, end }: Ledger, { createdAt }: SessionRecord): boolean {
  if (child === null && end === null) return false;
  return !(Date.parse(createdAt) > Date.parse(launchedAt));
}

/** The `tags_change` events of a session's log; lines that are none are skipped, as is a log that cannot be read. */
function readTagsChanges(path: string): TagsChange[] {
  const file = readText(path);
  if (file.state !== "read") return [];
  return file.text
    .split("\n")
    .filter((line) => line.includes('"tags_change"'))
    .flatMap((line) => parseTagsChange(line) ?? []);
}

function parseTagsChange(line: string): TagsChange | null {
  const parsed = parseJsonObject(line);
  if ("problem" in parsed) return null;
  const { type, ts, previous, value } = parsed.object;
  if (type !== "tags_change" || typeof ts !== "string") return null;
  return isJsonObject(previous) && isJsonObject(value)
    ? { ts, previous: previous as Tags, value: value as Tags }
    : null;
}

function isJustWritten(path: string): boolean {
  const writtenMs = statOf(path)?.mtimeMs;
  const ageMs = writtenMs === undefined ? STILL_MS : Date.now() - writtenMs;
  return Math.abs(ageMs) < STILL_MS;
}

/**
 * The session record `<name>.json` of pty's registry, as text and as data (formats: docs/disk-layout.md).
 * Other programs write it too: what is not understood is kept.
 */
import {
  carryMembers,
  formatJson,
  isJsonObject,
  isStringList,
  type JsonObject,
  parseJsonObject,
} from "./json-members.ts";
import type { SessionRecord } from "./session.ts";

/** A record that can be used, with what had to be left out of it. */
export interface ParsedRecord {
  readonly record: SessionRecord;
  /** The object as it stands in the file; `formatRecord` needs it to keep what `record` leaves out. */
  readonly raw: JsonObject;
  /** Known members of a wrong type, taken as absent; each one clause for a person. */
  readonly problems: readonly string[];
}

const isTime = (value: unknown): value is string =>
  typeof value === "string" && !Number.isNaN(Date.parse(value));
const isString = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

/** The members that have a meaning here, and when their value can be used. */
const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  command: isString,
  args: isStringList,
  displayCommand: isString,
  cwd: isString,
  createdAt: isTime,
  rows: isCount,
  cols: isCount,
  env: isJsonObject,
  extraEnv: isJsonObject,
  unsetEnv: isStringList,
  tags: isJsonObject,
  displayName: isString,
  exitCode: Number.isInteger,
  exitedAt: isTime,
  lastLines: isStringList,
  lastAttachAt: isTime,
  daemonPid: isCount,
  generation: isString,
};
const STRING_MAPS = new Set(["env", "extraEnv", "tags"]);

/**
 * Reads a record tolerantly. A problem when it is torn, is no object, or names no command, which is what makes an
 * object a session record. Absent members that `SessionRecord` requires come out empty.
 */
export function parseRecord(text: string): ParsedRecord | { readonly problem: string } {
  const parsed = parseJsonObject(text);
  if ("problem" in parsed) return parsed;
  const raw = parsed.object;
  if (!isString(raw.command)) return { problem: "names no command, so it is not a session record" };
  const problems: string[] = [];
  const members: [string, unknown][] = [];
  for (const [key, value] of Object.entries(raw)) {
    const usable = Object.hasOwn(MEMBERS, key) ? MEMBERS[key] : undefined;
    if (usable === undefined) members.push([key, value]);
    else if (!usable(value)) noteUnusable(key, value, problems);
    else members.push([key, STRING_MAPS.has(key) ? stringsOf(key, value as JsonObject, problems) : value]);
  }
  return { record: complete(Object.fromEntries(members)), raw, problems };
}

/** pty writes null where it has nothing to say; that is absence, not a fault. */
function noteUnusable(key: string, value: unknown, problems: string[]): void {
  if (value !== null) problems.push(`"${key}" has a value that cannot be used`);
}

function stringsOf(member: string, map: JsonObject, problems: string[]): JsonObject {
  const strange: string[] = [];
  for (const key in map) if (typeof map[key] !== "string") strange.push(key);
  if (strange.length === 0) return map;
  for (const key of strange) problems.push(`"${member}" holds "${key}", which is not a string`);
  return Object.fromEntries(Object.entries(map).filter(([, value]) => isString(value)));
}

function complete(members: JsonObject): SessionRecord {
  const record = members as SessionRecord;
  record.args ??= [];
  record.displayCommand ??= record.command;
  record.cwd ??= "";
  record.createdAt ??= "";
  return record;
}

/**
 * The file's text: pretty JSON, 2 spaces, members in their order. With `previous`, the reading that `record` was
 * made from, everything that the reading could not use is kept as it stood.
 */
export function formatRecord(record: SessionRecord, previous: ParsedRecord | null = null): string {
  return formatJson(previous === null ? record : carryMembers(previous.raw, previous.record, record));
}

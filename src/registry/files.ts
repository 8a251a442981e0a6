/** One session's files, each read once: what is there, and what is wrong with it. Nothing is written here. */
import { errnoOf, messageOf } from "../errors.ts";
import { type ParsedLedger, parseLedger } from "../ledger-codec.ts";
import { type ParsedRecord, parseRecord } from "../record.ts";
import type { Found } from "../session-facts.ts";
import { NotRegularError, readRegularFile } from "../system/regular-file.ts";

/** A file's text, or why there is none. */
export type FileText =
  | { readonly state: "read"; readonly text: string }
  | { readonly state: "missing" }
  | { readonly state: "unreadable"; readonly message: string };

/** `parsed` and `problem` are never both null for a file that exists. A newer file can have both. */
export interface FileReading<T> {
  readonly state: Found<T>["state"];
  readonly parsed: T | null;
  /** For a person, a clause about the file; null when all is well. */
  readonly problem: string | null;
  /** Whether it could not be read at all, in contrast to being torn. */
  readonly unreadable: boolean;
}

export function readText(path: string): FileText {
  try {
    return { state: "read", text: readRegularFile(path).text };
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return { state: "missing" };
    if (error instanceof NotRegularError) return { state: "unreadable", message: error.message };
    return { state: "unreadable", message: `cannot be read: ${messageOf(error)}` };
  }
}

type Parsed = { readonly problems: readonly string[] };

function readWith<T extends Parsed>(
  path: string,
  parse: (text: string) => T | { readonly problem: string },
): FileReading<T> {
  const file = readText(path);
  if (file.state === "missing") return { state: "missing", parsed: null, problem: null, unreadable: false };
  if (file.state === "unreadable") {
    return { state: "unusable", parsed: null, problem: file.message, unreadable: true };
  }
  const parsed = parse(file.text);
  if ("problem" in parsed) {
    return { state: "unusable", parsed: null, problem: parsed.problem, unreadable: false };
  }
  const problem = parsed.problems.length === 0 ? null : parsed.problems.join("; ");
  return { state: "read", parsed, problem, unreadable: false };
}

export function readRecordFile(path: string): FileReading<ParsedRecord> {
  return readWith(path, parseRecord);
}

export function readLedgerFile(path: string): FileReading<ParsedLedger> {
  return readWith(path, parseLedger);
}

/** The decimal pid in a `.pid` file. */
export function readPidFile(path: string): Found<number> {
  const file = readText(path);
  if (file.state !== "read") return { state: file.state === "missing" ? "missing" : "unusable" };
  const text = file.text.trim();
  const pid = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return pid > 0 ? { state: "read", value: pid } : { state: "unusable" };
}

/** Reads members of an untyped table one by one and collects what is wrong with each, all at once. */
import { nearest } from "./nearest.ts";

/** The way to a member from the top of a document: names, and positions in lists (from 0). */
export type ObjectPath = readonly (string | number)[];

/** Something wrong with one member; `path` leads to the member, or to the table that lacks it. */
export interface Issue {
  readonly severity: "error" | "warning";
  readonly path: ObjectPath;
  readonly message: string;
}

export type Table = Readonly<Record<string, unknown>>;

/** What is wrong with a string, to be read after the member's name; null when nothing is. */
export type StringCheck = (value: string) => string | null;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** One table and its place in the document; every reader of a document shares one list of issues. */
export class TableReader {
  readonly table: Table;
  readonly path: ObjectPath;
  readonly issues: Issue[];
  /** Members that somebody asked for. */
  private readonly asked = new Set<string>();

  constructor(table: Table, path: ObjectPath, issues: Issue[]) {
    this.table = table;
    this.path = path;
    this.issues = issues;
  }

  has(name: string): boolean {
    this.asked.add(name);
    return Object.hasOwn(this.table, name);
  }

  error(path: ObjectPath, message: string): null {
    this.issues.push({ severity: "error", path, message });
    return null;
  }

  warning(path: ObjectPath, message: string): void {
    this.issues.push({ severity: "warning", path, message });
  }

  /** A string that passes `check`, or null: absent, or reported. */
  string(name: string, check: StringCheck = nonEmpty): string | null {
    if (!this.has(name)) return null;
    return this.checkedString([...this.path, name], this.table[name], check);
  }

  /** As `string`, and its absence is an error too. */
  requiredString(name: string, check: StringCheck = nonEmpty): string | null {
    if (!this.has(name)) return this.error(this.path, `${memberName([...this.path, name])} is missing`);
    return this.string(name, check);
  }

  boolean(name: string): boolean | null {
    if (!this.has(name)) return null;
    const value = this.table[name];
    return typeof value === "boolean" ? value : this.wrongType(name, "true or false");
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | null {
    if (!this.has(name)) return null;
    const value = this.table[name];
    const found = allowed.find((word) => word === value);
    if (found !== undefined) return found;
    const words = `${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1)}`;
    if (typeof value !== "string") return this.wrongType(name, words);
    const hint = didYouMean(value, allowed);
    return this.error(
      [...this.path, name],
      `${memberName([...this.path, name])} must be ${words}, found ${describe(value)}${hint}`,
    );
  }

  /** A table of strings; empty when absent or reported. `checkKey` says what is wrong with a name in it. */
  strings(name: string, checkKey: StringCheck): Record<string, string> {
    const reader = this.subtable(name);
    if (reader === null) return {};
    const entries: [string, string][] = [];
    for (const [key, value] of Object.entries(reader.table)) {
      const path = [...reader.path, key];
      const keyProblem = unusable(key) ?? checkKey(key);
      if (keyProblem !== null) this.error(path, `${memberName(path)}: the name ${keyProblem}`);
      const text = this.checkedString(path, value, () => null);
      if (text !== null) entries.push([key, text]);
    }
    return Object.fromEntries(entries);
  }

  /** The reader of a table inside this one; null when absent or reported. */
  subtable(name: string): TableReader | null {
    if (!this.has(name)) return null;
    const value = this.table[name];
    if (isTable(value)) return new TableReader(value, [...this.path, name], this.issues);
    return this.wrongType(name, "a table");
  }

  /** The readers of a list of tables; a lone table is a list of one (KDL writes it so). */
  tables(name: string): TableReader[] {
    if (!this.has(name)) return [];
    const value = this.table[name];
    if (isTable(value)) return [new TableReader(value, [...this.path, name], this.issues)];
    if (!Array.isArray(value)) {
      this.wrongType(name, "a list of tables");
      return [];
    }
    return value.flatMap((item: unknown, index) => {
      const path = [...this.path, name, index];
      if (isTable(item)) return [new TableReader(item, path, this.issues)];
      this.error(path, `${memberName(path)} must be a table, found ${describe(item)}`);
      return [];
    });
  }

  /** Warns of every member that nobody asked for. */
  warnOfUnknown(): void {
    for (const name of Object.keys(this.table)) {
      if (this.asked.has(name)) continue;
      const hint = didYouMean(name, [...this.asked]);
      this.warning([...this.path, name], `${memberName([...this.path, name])} is not a known member${hint}`);
    }
  }

  wrongType(name: string, wanted: string): null {
    const path = [...this.path, name];
    return this.error(path, `${memberName(path)} must be ${wanted}, found ${describe(this.table[name])}`);
  }

  private checkedString(path: ObjectPath, value: unknown, check: StringCheck): string | null {
    if (typeof value !== "string") {
      const quoted = ["number", "boolean", "bigint"].includes(typeof value) ? `; write "${value}"` : "";
      return this.error(path, `${memberName(path)} must be a string, found ${describe(value)}${quoted}`);
    }
    const problem = unusable(value) ?? check(value);
    return problem === null ? value : this.error(path, `${memberName(path)} ${problem}`);
  }
}

export const nonEmpty: StringCheck = (value) => (value.trim() === "" ? "is empty" : null);

/** No program can be handed a NUL or half a surrogate pair. */
function unusable(value: string): string | null {
  if (value.includes("\0")) return "contains a NUL character";
  return value.isWellFormed() ? null : "contains half of a surrogate pair";
}

/** `render.file[0].dest`; a name with odd characters is quoted. */
export function memberName(path: ObjectPath): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      const text = /^[\w-]+$/.test(part) ? part : JSON.stringify(part);
      return index === 0 ? text : `.${text}`;
    })
    .join("");
}

/** No word that was meant is longer than this. */
const LONGEST_WORD = 40;

function didYouMean(word: string, known: readonly string[]): string {
  const near = word.length > LONGEST_WORD ? null : nearest(word, known);
  return near === null ? "" : `; did you mean "${near}"?`;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" || typeof value === "bigint") return `the number ${value}`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return value instanceof Date ? "a date" : "a table";
}

/**
 * Strict reading of a command line against a command's description: what is not described is refused, by name.
 * Values are never guessed: a word that begins with `-` is a flag unless it follows `=` or `--`.
 */
import { ConvoyError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { type Argument, type Arguments, COMMON_FLAGS, type Positional } from "./command.ts";
import { readValue, type Value } from "./values.ts";

export interface Parsed {
  /** A member for every described argument: null, false or [] when it was not given. */
  readonly args: Readonly<Record<string, boolean | null | Value | readonly Value[]>>;
  readonly help: boolean;
  readonly version: boolean;
  readonly network: string | null;
}

type Flag = Exclude<Argument, { type: "positional" }>;
type Token =
  /** `written` is the flag as typed; `value` is null for one that takes none. */
  | { readonly flag: string; readonly written: string; readonly value: string | null }
  | { readonly word: string };

/** Whether help or the version is asked for, however wrong the rest of the line is. */
export function asksFor(flag: "help" | "version", words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const before = end < 0 ? words : words.slice(0, end);
  return before.includes(`--${flag}`) || before.includes(`-${COMMON_FLAGS[flag].alias}`);
}

/** Where the command's name is: the first word that is neither a flag nor `--network`'s value; -1 when there is none. */
export function commandPosition(words: readonly string[]): number {
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") return -1;
    if (word === "--network") at += 1;
    else if (!word.startsWith("-")) return at;
  }
  return -1;
}

/** Reads `words`, without the command's name. Throws a usage error that names the word that is wrong. */
export function parseArguments(described: Arguments, words: readonly string[]): Parsed {
  const all: Arguments = { ...described, ...COMMON_FLAGS };
  const given = new Map<string, Value[]>();
  const open = Object.keys(described).filter((name) => described[name]!.type === "positional");
  for (const token of splitWords(all, words)) {
    if ("word" in token) keepPositional(described, open, given, token.word);
    else keepFlag(all, given, token);
  }
  const help = given.has("help");
  const version = given.has("version");
  if (!help && !version) checkRequired(described, given);
  const args = Object.fromEntries(
    Object.entries(described).map(([name, definition]) => [
      name,
      finished(definition, given.get(keyOf(name, definition))),
    ]),
  );
  return { args, help, version, network: (given.get("network")?.[0] as string | undefined) ?? null };
}

/** A positional and a flag may share a name (`[network]` and `--network`). */
function keyOf(name: string, { type }: Argument): string {
  return type === "positional" ? `<${name}>` : name;
}

function finished(definition: Argument, values: readonly Value[] | undefined) {
  if (definition.type === "boolean") return values !== undefined;
  if (definition.multiple === true) return values ?? [];
  return values?.[0] ?? null;
}

/** The words as flags with their values, and other words, in order. */
function splitWords(all: Arguments, words: readonly string[]): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") return [...tokens, ...words.slice(at + 1).map((rest) => ({ word: rest }))];
    if (!word.startsWith("-") || word === "-") tokens.push({ word });
    else {
      const next = words[at + 1];
      const read = word.startsWith("--") ? [splitLong(all, word, next)] : splitLetters(all, word, next);
      tokens.push(...read.map(({ tookNext: _, ...token }) => token));
      if (read.some((one) => one.tookNext)) at += 1;
    }
  }
  return tokens;
}

interface FlagToken {
  readonly flag: string;
  readonly written: string;
  readonly value: string | null;
  readonly tookNext: boolean;
}

/** `--flag`, `--flag value`, `--flag=value`. */
function splitLong(all: Arguments, word: string, next: string | undefined): FlagToken {
  const equals = word.indexOf("=");
  const written = equals < 0 ? word : word.slice(0, equals);
  const name = written.slice(2);
  const definition = Object.hasOwn(all, name) ? all[name]! : null;
  if (definition === null || definition.type === "positional") throw unknownFlag(all, written);
  return withValue(name, definition, written, equals < 0 ? null : word.slice(equals + 1), next);
}

/** `-f`, `-fn 20`, `-n20`, `-n=20`: letters up to the first that takes a value. */
function splitLetters(all: Arguments, word: string, next: string | undefined): FlagToken[] {
  const tokens: FlagToken[] = [];
  for (let at = 1; at < word.length; at++) {
    const written = `-${word[at]}`;
    const found = Object.entries(all).find(
      ([, one]) => one.type !== "positional" && `-${one.alias}` === written,
    );
    if (found === undefined) throw unknownFlag(all, at === 1 ? word : written);
    const [name, definition] = found as [string, Flag];
    const rest = word.slice(at + 1);
    if (definition.type !== "boolean" || rest.startsWith("=")) {
      return [
        ...tokens,
        withValue(name, definition, written, rest === "" ? null : rest.replace(/^=/, ""), next),
      ];
    }
    tokens.push({ flag: name, written, value: null, tookNext: false });
  }
  return tokens;
}

function withValue(
  flag: string,
  definition: Flag,
  written: string,
  attached: string | null,
  next: string | undefined,
): FlagToken {
  if (definition.type === "boolean") {
    if (attached !== null) throw usage(`${written} takes no value, but got "${attached}"`);
    return { flag, written, value: null, tookNext: false };
  }
  if (attached !== null) return { flag, written, value: attached, tookNext: false };
  const wanted = `${written} needs a value: ${written} <${definition.valueHint}>`;
  if (next === undefined) throw usage(wanted);
  if (next.startsWith("-") && next !== "-") {
    throw usage(`${wanted}; for a value that begins with "-" write ${written}=${next}`);
  }
  return { flag, written, value: next, tookNext: true };
}

function keepFlag(
  all: Arguments,
  given: Map<string, Value[]>,
  token: Exclude<Token, { word: string }>,
): void {
  const definition = all[token.flag] as Flag;
  if (definition.type === "boolean" || token.value === null) {
    given.set(token.flag, []);
    return;
  }
  const read = readValue(definition, token.value);
  if ("problem" in read) throw usage(`${token.written} ${read.problem}`);
  const before = given.get(token.flag) ?? [];
  if (before.length > 0 && definition.multiple !== true) {
    if (String(before[0]) === String(read.value)) return;
    throw usage(`${token.written} is given twice, with "${before[0]}" and "${read.value}"`);
  }
  given.set(token.flag, [...before, read.value]);
}

function keepPositional(
  described: Arguments,
  open: string[],
  given: Map<string, Value[]>,
  word: string,
): void {
  const name = open[0];
  if (name === undefined) throw usage(`"${word}" is one argument too many`);
  const definition = described[name] as Positional;
  const read = readValue(definition, word);
  if ("problem" in read) throw usage(`<${name}> ${read.problem}`);
  const key = keyOf(name, definition);
  given.set(key, [...(given.get(key) ?? []), read.value]);
  if (definition.multiple !== true) open.shift();
}

function checkRequired(described: Arguments, given: ReadonlyMap<string, Value[]>): void {
  for (const [name, definition] of Object.entries(described)) {
    if (definition.type === "boolean" || definition.required !== true) continue;
    if (given.has(keyOf(name, definition))) continue;
    const written = definition.type === "positional" ? `<${name}>` : `--${name} <${definition.valueHint}>`;
    throw usage(`${written} is missing`);
  }
}

function unknownFlag(all: Arguments, written: string): ConvoyError {
  const flags = Object.keys(all).filter((name) => all[name]!.type !== "positional");
  const meant = nearest(written.replace(/^-+/, ""), flags);
  return usage(`unknown flag ${written}${meant === null ? "" : `; did you mean --${meant}?`}`);
}

function usage(message: string): ConvoyError {
  return new ConvoyError("usage", message);
}

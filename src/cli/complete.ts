/**
 * What can stand at the end of a command line that is being typed: told from the words before it and from the same
 * descriptions that a finished line is parsed with. Never throws for what was typed; a line that is wrong already
 * gets fewer answers.
 */
import { type Argument, type Arguments, COMMON_FLAGS, type Completes, type Positional } from "./command.ts";
import { COMMAND_TABLE, DEFAULT_COMMAND, type TableRow } from "./command-table.ts";
import { commandPosition } from "./parse.ts";

export interface Candidate {
  readonly value: string;
  /** One line for a person; may be empty. */
  readonly about: string;
}

/** What is expected where the line ends. */
export interface Expected {
  /** What of the last word comes before the value: `--harness=`; else "". */
  readonly before: string;
  /** The rest of the last word, as far as it has been typed. */
  readonly typed: string;
  /** Words that can stand there, each whole, without `before`. */
  readonly words: readonly Candidate[];
  /** What can stand there besides, which only a look at the disk can tell. */
  readonly completes: Completes | null;
  /** Values that the same argument has already. */
  readonly taken: readonly string[];
  /** The network that the line names; null when it names none so far. */
  readonly network: string | null;
}

type Flag = Exclude<Argument, { type: "positional" }>;

const HELP_WORD: Candidate = { value: "help", about: "say what a command does" };

/** `before`: the finished words without the program's name. `last`: the word that is being typed, "" for a new one. */
export async function expectedWord(
  before: readonly string[],
  last: string,
  table: readonly TableRow[] = COMMAND_TABLE,
): Promise<Expected> {
  const at = commandPosition(before);
  const name = at < 0 ? null : before[at]!;
  const rest = before.filter((_, index) => index !== at);
  const commands = table.map((row) => ({ value: row.name, about: row.summary }));
  if (name === "help") return expectedAmong(rest.length > 0 ? [] : commands, {}, rest, last);
  const row = table.find((one) => one.name === (name ?? DEFAULT_COMMAND));
  if (row === undefined) return expectedAmong([], {}, rest, last);
  const { args } = (await row.load()).default;
  return expectedAmong(name === null ? [HELP_WORD, ...commands] : null, args, rest, last);
}

/** `commands` stand in the place of positionals; null behind a command, where its own do. */
function expectedAmong(
  commands: readonly Candidate[] | null,
  args: Arguments,
  before: readonly string[],
  last: string,
): Expected {
  const all: Arguments = { ...args, ...COMMON_FLAGS };
  const line = readLine(all, before);
  const positionals = Object.values(args).filter((one): one is Positional => one.type === "positional");
  const named = line.positionals[positionals.findIndex(({ completes }) => completes === "network")];
  const network = line.values.get("network")?.[0] ?? named ?? null;
  const nothing = { before: "", typed: last, words: [], completes: null, taken: [], network };
  if (line.open !== null) return { ...nothing, ...valuesOfFlag(all, line, line.open) };
  if (!line.ended && last.startsWith("-")) return { ...nothing, ...flagOrItsValue(all, line, last) };
  if (commands !== null) return { ...nothing, words: line.ended ? [] : commands };
  const found = valuesOfPositional(positionals, line.positionals);
  const known = found.words.length > 0 || found.completes !== null;
  if (known || line.ended || last !== "") return { ...nothing, ...found };
  return { ...nothing, words: flagWords(all, line, last) };
}

type Values = Pick<Expected, "words" | "completes" | "taken">;

/** `--fl`, or `--flag=val`. */
function flagOrItsValue(all: Arguments, line: Line, last: string): Partial<Expected> {
  const [, before, name, typed] = /^(--([^=]+)=)([\s\S]*)$/.exec(last) ?? [];
  if (before === undefined) return { words: flagWords(all, line, last) };
  return { before, typed: typed!, ...valuesOfFlag(all, line, name!) };
}

function valuesOfFlag(all: Arguments, line: Line, name: string): Values {
  return { ...valuesOf(flagOf(all, name)), taken: line.values.get(name) ?? [] };
}

/** The last positional takes what is left, when it takes several. */
function valuesOfPositional(positionals: readonly Positional[], given: readonly string[]): Values {
  const last = positionals.at(-1);
  if (last?.multiple !== true) return { ...valuesOf(positionals[given.length] ?? null), taken: [] };
  const at = Math.min(given.length, positionals.length - 1);
  return { ...valuesOf(positionals[at]!), taken: given.slice(at) };
}

function valuesOf(argument: Argument | null): Omit<Values, "taken"> {
  if (argument === null || argument.type === "boolean") return { words: [], completes: null };
  const options = "options" in argument ? argument.options : undefined;
  const fixed = options ?? argument.suggests ?? [];
  return { words: fixed.map((value) => ({ value, about: "" })), completes: argument.completes ?? null };
}

/** Flags that may still be given; the letters too when nothing but a `-` has been typed. */
function flagWords(all: Arguments, line: Line, last: string): Candidate[] {
  return Object.entries(all).flatMap(([name, one]) => {
    if (one.type === "positional") return [];
    if (line.given.has(name) && !(one.type !== "boolean" && one.multiple === true)) return [];
    const long = { value: `--${name}`, about: one.description };
    if (last !== "-" || one.alias === undefined) return [long];
    return [long, { value: `-${one.alias}`, about: one.description }];
  });
}

interface Line {
  readonly positionals: readonly string[];
  /** Names of the flags that were given. */
  readonly given: ReadonlySet<string>;
  /** Their values, for those that take one. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The flag whose value comes next. */
  readonly open: string | null;
  /** `--` was typed: everything behind it is a positional. */
  readonly ended: boolean;
}

/** As `parse.ts` reads a line, but for what is wrong in it, which is passed over. */
function readLine(all: Arguments, words: readonly string[]): Line {
  const positionals: string[] = [];
  const given = new Set<string>();
  const values = new Map<string, string[]>();
  const keep = (name: string, value: string) => values.set(name, [...(values.get(name) ?? []), value]);
  let open: string | null = null;
  for (const [index, word] of words.entries()) {
    if (open !== null) {
      keep(open, word);
      open = null;
    } else if (word === "--") {
      positionals.push(...words.slice(index + 1));
      return { positionals, given, values, open, ended: true };
    } else if (!word.startsWith("-") || word === "-") positionals.push(word);
    else
      for (const { name, value } of flagsIn(all, word)) {
        given.add(name);
        if (value !== null) keep(name, value);
        else if (all[name]!.type !== "boolean") open = name;
      }
  }
  return { positionals, given, values, open, ended: false };
}

/** The flags in one word, each with the value that is attached to it. */
function flagsIn(all: Arguments, word: string): { readonly name: string; readonly value: string | null }[] {
  if (word.startsWith("--")) {
    const [, name = "", value = null] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    return flagOf(all, name) === null ? [] : [{ name, value }];
  }
  const found: { name: string; value: string | null }[] = [];
  for (let at = 1; at < word.length; at++) {
    const [name, one] = Object.entries(all).find(
      ([, one]) => one.type !== "positional" && one.alias === word[at],
    ) ?? [null, null];
    if (name === null) return found;
    const rest = word.slice(at + 1).replace(/^=/, "");
    if (one.type !== "boolean") return [...found, { name, value: rest === "" ? null : rest }];
    found.push({ name, value: null });
  }
  return found;
}

function flagOf(all: Arguments, name: string): Flag | null {
  const found = Object.hasOwn(all, name) ? all[name]! : null;
  return found === null || found.type === "positional" ? null : found;
}

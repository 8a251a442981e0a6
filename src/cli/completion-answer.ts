/**
 * `convoy __complete <shell> <word>…`: what the scripts of `convoy completions` ask. The words are those of the line
 * up to the cursor, without the program's name; the last one is being typed, and may be empty.
 *
 * The answer's first line is `words`, `file` or `directory`: the latter two ask the shell for names of its own. Each
 * further line is a word, a tab, and a few words about it. On a failure there is no answer at all.
 */
import { oneLine } from "../table.ts";
import { type Candidate, expectedWord } from "./complete.ts";
import { lookUp, type Surroundings } from "./completion-lookup.ts";
import { unquoted } from "./shell-word.ts";

/** Words that no shell needs to quote: others are never offered. */
const PLAIN = /^[\w./=:@%+-]+$/;

/** The answer, without a line break at its end. Throws where it cannot be told. */
export async function completeLine(words: readonly string[], around: Surroundings): Promise<string> {
  const [shell = "", ...typed] = words;
  // bash hands the words over as they are written, the others without quotes.
  const line = shell === "bash" ? typed.map(unquoted) : typed;
  const expected = await expectedWord(line.slice(0, -1), line.at(-1) ?? "");
  const { words: found, path } = await lookUp(expected, around);
  const rows = [...expected.words, ...found]
    .filter(({ value }) => PLAIN.test(value))
    .map((one) => describe({ ...one, value: expected.before + one.value }));
  return [path ?? "words", ...rows].join("\n");
}

function describe({ value, about }: Candidate): string {
  return `${value}\t${oneLine(about)}`;
}

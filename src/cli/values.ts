/** Values of flags and positionals: text in, a checked value out. */
import type { Argument } from "./command.ts";

export type Value = string | number | readonly [string, string];

/** Longest time that a timer can wait: 2^31-1 ms, in whole seconds. */
const MOST_SECONDS = 2_147_483;
const MOST_COUNT = 1_000_000_000;

/** The value that `text` writes, or what is wrong with it, as a phrase to follow the argument's name. */
export function readValue(
  definition: Exclude<Argument, { type: "boolean" }>,
  text: string,
): { readonly value: Value } | { readonly problem: string } {
  switch (definition.type) {
    case "positional":
      if (text === "" && definition.allowEmpty !== true) return { problem: "is empty" };
      return definition.options === undefined ? { value: text } : readOption(text, definition.options);
    case "string":
      return text === "" ? { problem: "is empty" } : { value: text };
    case "enum":
      return readOption(text, definition.options);
    case "pair":
      return readPair(text);
    case "seconds":
      return readNumber(text, /^\d+(?:\.\d+)?$/, "a number of seconds", definition.least, MOST_SECONDS);
    case "count":
      return readNumber(text, /^\d+$/, "a whole number", definition.least, MOST_COUNT);
  }
}

function readOption(text: string, options: readonly string[]): { value: Value } | { problem: string } {
  if (options.includes(text)) return { value: text };
  return { problem: `is "${text}"; it can be ${options.join(", ")}` };
}

function readPair(text: string): { value: Value } | { problem: string } {
  const match = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text);
  if (match === null) return { problem: `is "${text}"; it is written NAME=value` };
  return { value: [match[1]!, match[2]!] };
}

function readNumber(
  text: string,
  form: RegExp,
  what: string,
  least: number,
  most: number,
): { value: Value } | { problem: string } {
  const number = form.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return { value: number };
  return { problem: `is "${text}"; it can be ${what} from ${least} to ${most}` };
}

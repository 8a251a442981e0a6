/** Keys by name, as an xterm says them. */
import { nearest } from "./nearest.ts";

/** What the program has asked of the keyboard. */
export interface Keyboard {
  /** DECCKM (`?1`): cursor keys without modifiers are said with `ESC O`. */
  readonly applicationCursor: boolean;
}

const ESC = "\x1b";
const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
const MODIFIERS: Readonly<Record<string, number>> = {
  shift: SHIFT,
  s: SHIFT,
  alt: ALT,
  meta: ALT,
  m: ALT,
  a: ALT,
  ctrl: CTRL,
  control: CTRL,
  c: CTRL,
};

/** Keys that are a character, whatever the modes. */
const CHARACTERS: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  tab: "\t",
  esc: ESC,
  escape: ESC,
  space: " ",
  backspace: "\x7f",
  bspace: "\x7f",
};
/** `ESC [ X`, with modifiers `ESC [ 1 ; m X`. */
const LETTERS: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  home: "H",
  end: "F",
};
/** `ESC O X`, with modifiers `ESC [ 1 ; m X`. */
const FUNCTION_LETTERS: Readonly<Record<string, string>> = { f1: "P", f2: "Q", f3: "R", f4: "S" };
/** `ESC [ n ~`, with modifiers `ESC [ n ; m ~`. */
const NUMBERS: Readonly<Record<string, number>> = {
  insert: 2,
  ins: 2,
  delete: 3,
  del: 3,
  pgup: 5,
  pageup: 5,
  pgdn: 6,
  pgdown: 6,
  pagedown: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};
/** Control characters that no letter gives. */
const CONTROLS: Readonly<Record<string, string>> = {
  " ": "\0",
  "@": "\0",
  "[": ESC,
  "\\": "\x1c",
  "]": "\x1d",
  "^": "\x1e",
  _: "\x1f",
  "/": "\x1f",
  "?": "\x7f",
};

/** Names that a key can be given by, without modifiers. */
export const KEY_NAMES: readonly string[] = [CHARACTERS, LETTERS, FUNCTION_LETTERS, NUMBERS].flatMap(
  Object.keys,
);

export type ParsedKey = { readonly bytes: string } | { readonly problem: string };

/**
 * The bytes of one key: a name, or a single character, behind any of `ctrl-`, `alt-` and `shift-` (`c-`, `m-`, `s-`;
 * `+` for `-`). Names do not depend on case. Without a key of that name, what is wrong, as a phrase to follow the
 * flag's name.
 */
export function parseKey(text: string, keyboard: Keyboard): ParsedKey {
  let rest = text;
  let held = 0;
  for (let found = modifierOf(rest); found !== null; found = modifierOf(rest)) {
    held |= found.modifier;
    rest = found.rest;
  }
  const bytes = keyBytes(rest, held, keyboard);
  if (bytes !== null) return { bytes };
  const prefix = text.slice(0, text.length - rest.length);
  const meant = nearest(rest, KEY_NAMES);
  const hint =
    meant === null ? "a key is enter, esc, up, f5, ctrl-x, alt-x, …" : `did you mean ${prefix}${meant}?`;
  return { problem: `is "${text}", which is no key; ${hint}` };
}

function modifierOf(text: string): { modifier: number; rest: string } | null {
  const [, name, rest] = /^([a-z]+)[-+](.+)$/is.exec(text) ?? [];
  const modifier = name === undefined ? undefined : memberOf(MODIFIERS, name.toLowerCase());
  return modifier === undefined ? null : { modifier, rest: rest! };
}

function keyBytes(name: string, held: number, keyboard: Keyboard): string | null {
  const known = name.toLowerCase();
  const modified = held === 0 ? "" : `;${held + 1}`;
  const letter = memberOf(LETTERS, known);
  if (letter !== undefined) {
    if (held === 0) return `${ESC}${keyboard.applicationCursor ? "O" : "["}${letter}`;
    return `${ESC}[1${modified}${letter}`;
  }
  const functionLetter = memberOf(FUNCTION_LETTERS, known);
  if (functionLetter !== undefined)
    return held === 0 ? `${ESC}O${functionLetter}` : `${ESC}[1${modified}${functionLetter}`;
  const number = memberOf(NUMBERS, known);
  if (number !== undefined) return `${ESC}[${number}${modified}~`;
  if (known === "backtab" || (known === "tab" && (held & SHIFT) !== 0))
    return `${(held & ALT) === 0 ? "" : ESC}${ESC}[Z`;
  const character = memberOf(CHARACTERS, known) ?? ([...name].length === 1 ? name : undefined);
  return character === undefined ? null : characterBytes(character, held);
}

function characterBytes(character: string, held: number): string | null {
  let said = (held & SHIFT) === 0 ? character : character.toUpperCase();
  if ((held & CTRL) !== 0) {
    const control = controlOf(said);
    if (control === null) return null;
    said = control;
  }
  return (held & ALT) === 0 ? said : ESC + said;
}

/** Enter, Tab, Escape and Backspace stay what they are; null where a terminal has no such key. */
function controlOf(character: string): string | null {
  const letter = character.toLowerCase();
  if (/^[a-z]$/.test(letter)) return String.fromCharCode(letter.charCodeAt(0) - 0x60);
  const named = memberOf(CONTROLS, character);
  if (named !== undefined) return named;
  if (character === "\x7f") return "\b";
  return character < " " ? character : null;
}

/** Only the table's own members: `constructor` is no key. */
function memberOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/**
 * Answers to the questions that a program asks its terminal, given by the host while nobody is attached: without them
 * fish, vim and the agent harnesses wait up to ten seconds, or misdraw (docs/protocol.md).
 */
import type { TerminalModes } from "./terminal-modes.ts";
import type { Sequence } from "./terminal-scan.ts";

export interface TerminalState {
  readonly rows: number;
  readonly cols: number;
  readonly modes: TerminalModes;
  /** Convoy's version, for `ESC[>0q`. */
  readonly version: string;
}

/** Row and column, counted from 1. */
export interface CursorPosition {
  readonly row: number;
  readonly col: number;
}

/**
 * What to write back for one sequence of a program's output.
 * Null: it asks nothing. A function: the answer needs the cursor's place at this point of the output.
 */
export function replyTo(
  sequence: Sequence,
  state: TerminalState,
): string | ((cursor: CursorPosition) => string) | null {
  switch (sequence.kind) {
    case "csi":
      return replyToCsi(sequence.params, sequence.final, state);
    case "osc":
      return replyToOsc(sequence.text, sequence.terminator);
    case "dcs":
      return replyToDcs(sequence.text);
    default:
      return null;
  }
}

function replyToCsi(
  params: string,
  final: string,
  state: TerminalState,
): string | ((cursor: CursorPosition) => string) | null {
  switch (`${params}${final}`) {
    case "c":
    case "0c":
      return "\x1b[?62;22c";
    case ">c":
    case ">0c":
      return "\x1b[>0;276;0c";
    case "5n":
      return "\x1b[0n";
    case "6n":
      return ({ row, col }) => `\x1b[${row};${col}R`;
    case "?6n":
      return ({ row, col }) => `\x1b[?${row};${col};1R`;
    case ">q":
    case ">0q":
      return `\x1bP>|convoy(${state.version})\x1b\\`;
    case "?u":
      return `\x1b[?${state.modes.kittyFlags}u`;
    case "18t":
      return `\x1b[8;${state.rows};${state.cols}t`;
  }
  if (final !== "p") return null;
  const mode = /^\?(\d+)\$$/.exec(params)?.[1];
  if (mode === undefined) return null;
  const value = state.modes.isSet(Number(mode));
  return `\x1b[?${mode};${value === null ? 0 : value ? 1 : 2}$y`;
}

function replyToOsc(text: string, terminator: string): string | null {
  const [code, ...rest] = text.split(";");
  if (code === "4") {
    let reply = "";
    for (let index = 0; index + 1 < rest.length; index += 2) {
      const number = Number(rest[index]);
      if (rest[index + 1] !== "?" || !Number.isInteger(number) || number < 0 || number > 255) continue;
      reply += `\x1b]4;${number};${formatColour(paletteColour(number))}${terminator}`;
    }
    return reply === "" ? null : reply;
  }
  if (rest[0] !== "?") return null;
  switch (code) {
    case "10":
    case "12":
      return `\x1b]${code};${formatColour([0xd0, 0xd0, 0xd0])}${terminator}`;
    case "11":
      return `\x1b]11;${formatColour([0, 0, 0])}${terminator}`;
    default:
      return null;
  }
}

/** DECRQSS and XTGETTCAP: "not known", so that nobody waits. */
function replyToDcs(text: string): string | null {
  if (text.startsWith("$q")) return "\x1bP0$r\x1b\\";
  if (text.startsWith("+q")) return "\x1bP0+r\x1b\\";
  return null;
}

type Rgb = readonly [red: number, green: number, blue: number];

const BASE_COLOURS: readonly Rgb[] = [
  [0x00, 0x00, 0x00],
  [0xcd, 0x00, 0x00],
  [0x00, 0xcd, 0x00],
  [0xcd, 0xcd, 0x00],
  [0x00, 0x00, 0xee],
  [0xcd, 0x00, 0xcd],
  [0x00, 0xcd, 0xcd],
  [0xe5, 0xe5, 0xe5],
  [0x7f, 0x7f, 0x7f],
  [0xff, 0x00, 0x00],
  [0x00, 0xff, 0x00],
  [0xff, 0xff, 0x00],
  [0x5c, 0x5c, 0xff],
  [0xff, 0x00, 0xff],
  [0x00, 0xff, 0xff],
  [0xff, 0xff, 0xff],
];

/** xterm's palette of 256: 16 named colours, a cube of six steps, a ramp of greys. */
function paletteColour(index: number): Rgb {
  const base = BASE_COLOURS[index];
  if (base !== undefined) return base;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const step = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return [step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)];
}

function formatColour(colour: Rgb): string {
  return `rgb:${colour.map((part) => part.toString(16).padStart(2, "0").repeat(2)).join("/")}`;
}

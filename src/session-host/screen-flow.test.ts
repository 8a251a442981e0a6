/** What is left out of the output is never missed: whatever a program prints, the screen is that of all its bytes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Size } from "../protocol.ts";
import { TerminalScanner } from "../terminal-scan.ts";
import { Screen } from "./screen.ts";
import { XtermScreen } from "./xterm-screen.ts";

const SIZE: Size = { rows: 4, cols: 12 };
const LIMITS = { scrollbackLines: 30, rawBytes: 1_200, unflowingBytes: 100 };
/** With the largest size below. */
const ENOUGH_LINES = 30 + 2 * 6;

function flow(text: readonly string[], count: number): string {
  let lines = "";
  for (let index = 0; index < count; index++) lines += `${index}${text[index % text.length]}\r\n`;
  return lines;
}

const line = fc.constantFrom(
  ...[
    "a",
    "word ",
    "é",
    "漢",
    "🙂",
    "─",
    "\u0301",
    "x".repeat(30),
    " ".repeat(12),
    "",
    "\t",
    "\b",
    "\r",
    "\n",
  ],
  ...["\x1b[m", "\x1b[0m", "\x1b[1;31m", "\x1b[22;39m", "\x1b[44m", "\x1b[38;5;200m", "\x1b[48:2::9:8:7m"],
  ...["\x1b[4:3m", "\x1b[58;5;3m", "\x1b[7m", "\x1b[38;2m", "\x1b(B", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x07"],
  ...["\x1b]0;title\x07", "\x1b]2;t\x1b\\"],
);

/** What may leave a terminal in a state in which lines do something else, or is itself more than lines. */
const DISTURBANCES = [
  ...[
    "\x1b[2;3r",
    "\x1b[1;3r",
    "\x1b[2;3r\x1b[4;1H",
    "\x1b[r",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[2J",
    "\x1b[H",
  ],
  ...["\x1b[3A", "\x1b[2L", "\x1b[4h", "\x1b[20h", "\x1b[?7l", "\x1b[?7h", "\x1b[?45h", "\x1b[?6h", "\x1bc"],
  ...[
    "\x1b(0",
    "\x1b)0x\r\n\x0e",
    "\x0f",
    "\x0b",
    "\u0084",
    "\u009b2A",
    "\u008d",
    "\x1bM",
    "\x1b[3J",
    "\x1b7",
  ],
  ...["\x1b8", "\x1b[?2004h", "\x1b]8;;http://x\x07link", "\x1b]0;a\u009cb\x07", "\x1b[3;2H\x1b[31mhere"],
  ...["\x1b[b", "\x1bH", "\x1b[3g", "\x1bD", "\x1bE"],
];
const MANY_DISTURBANCES: readonly (readonly [string, string])[] = [
  ["line feeds alone", "ab\n".repeat(ENOUGH_LINES + 5)],
  ["no line end at all", "ab".repeat(1_000)],
  ["lines that go nowhere", "x\x1b[1A\r\n".repeat(200)],
  ["lines that go nowhere, by C1 controls", "x\u009b1A\r\n".repeat(200)],
  ["a string that a C1 control begins", `\u009d0;x\r\n${"in it\r\n".repeat(60)}\x07after\r\n`],
  ["very many colours", Array.from({ length: 3_000 }, (_, index) => `\x1b[38;2;1;2;${index}m\r\n`).join("")],
];
const disturbance = fc.constantFrom(...DISTURBANCES, ...MANY_DISTURBANCES.map(([, text]) => text));

type Step =
  | { readonly print: string }
  | { readonly resize: Size }
  | { readonly look: true }
  | { readonly loaded: true };
const LOOK = { look: true } as const;
/** An emulator that was asked for is there. */
const LOADED = { loaded: true } as const;
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(3, 20, ENOUGH_LINES - 1, ENOUGH_LINES, 250),
      )
      .map(([text, count]) => ({ print: flow(text, count) })),
  },
  { weight: 3, arbitrary: fc.array(disturbance, { maxLength: 3 }).map((all) => ({ print: all.join("") })) },
  fc.array(line, { maxLength: 6 }).map((all) => ({ print: all.join("") })),
  fc.constantFrom({ rows: 6, cols: 9 }, { rows: 3, cols: 20 }, SIZE).map((resize) => ({ resize })),
  fc.constantFrom(LOOK, LOADED),
);

/** What every look, and one at the end, shows: of everything, and of what the host's screen makes of it. */
async function looksAt(
  steps: readonly Step[],
  pieceBytes: number,
): Promise<{ seen: string[]; wanted: string[] }> {
  const seen: string[] = [];
  const wanted: string[] = [];
  const all = new XtermScreen(SIZE, LIMITS.scrollbackLines);
  const screen = new Screen(SIZE, fail, LIMITS);
  const scanner = new TerminalScanner();
  for (const next of [...steps, LOOK]) {
    if ("resize" in next) {
      all.resize(next.resize);
      screen.resize(next.resize);
    } else if ("loaded" in next) {
      await screen.settled();
    } else if ("look" in next) {
      wanted.push(shown(all));
      screen.look((xterm) => seen.push(shown(xterm)));
    } else {
      const bytes = Buffer.from(next.print);
      for (let from = 0; from < bytes.length; from += pieceBytes) {
        const scan = scanner.scan(bytes.subarray(from, from + pieceBytes));
        screen.write(scan.bytes, scan.flowFrom);
        all.write(scan.bytes);
      }
    }
  }
  await screen.settled();
  return { seen, wanted };
}

function shown(xterm: XtermScreen): string {
  return `${JSON.stringify(xterm.cursor())}${xterm.replay()}`;
}

function fail(error: unknown): never {
  throw error;
}

const LOOKS = "\x1b[32mlong enough\r\n\x1b[33;1mB\r\n\x1b[32mC\r\n";
const PLAIN = flow(["a", "b", "c"], 300);
const COLOURED = flow(["a", "\x1b[32mb", "\x1b[mc", "d\x1b[41m"], 300);

test.each([...DISTURBANCES.map((text) => [JSON.stringify(text), text] as const), ...MANY_DISTURBANCES])(
  "%s",
  async (_, text) => {
    for (const prints of [
      [LOOKS + text + PLAIN],
      [COLOURED + LOOKS + text, PLAIN, text],
      [text, COLOURED, text, PLAIN],
      [PLAIN + text],
    ]) {
      for (const before of [[], [LOOK], [LOOK, LOADED]]) {
        const { seen, wanted } = await looksAt([...before, ...prints.map((print) => ({ print }))], 150);
        expect(seen).toEqual(wanted);
      }
    }
  },
  60_000,
);

test("whatever is printed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 7, max: 600 }),
      async (steps, pieceBytes) => {
        const { seen, wanted } = await looksAt(steps, pieceBytes);
        expect(seen).toEqual(wanted);
      },
    ),
    { numRuns: 200 },
  );
}, 300_000);

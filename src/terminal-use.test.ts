import { expect, test } from "bun:test";
import { TerminalModes } from "./terminal-modes.ts";
import { TerminalScanner } from "./terminal-scan.ts";
import { TerminalUse, takeTerminal } from "./terminal-use.ts";

function after(...output: readonly string[]): string {
  const use = new TerminalUse();
  for (const piece of output) use.show(Buffer.from(piece));
  return use.giveBack();
}

/** What is still on after `output` and after the terminal was given back. */
function left(output: string) {
  const modes = new TerminalModes();
  const scanned = new TerminalScanner().scan(Buffer.from(output + after(output)));
  for (const { sequence } of scanned.found) modes.apply(sequence);
  return { changed: modes.changed(), keyboard: modes.kittyFlags };
}

test.each([
  [""],
  ["\x1b[?1049h\x1b[?1000h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?1h\x1b[?25l"],
  ["\x1b[?1049h\x1b[>1u\x1b[>5u"],
  ["\x1b[=3u"],
  ["\x1b[?47h\x1b[?7l\x1b[?5h\x1b[?2031h\x1b[?2048h"],
  ["\x1b[?1049h\x1b[?1049l\x1b[?1003h\x1b[?1003l"],
])("after %j nothing is left on", (output) => {
  expect(left(output)).toEqual({ changed: [], keyboard: 0 });
});

test("the alternate screen is left only by one who is on it, in whatever pieces that was said", () => {
  expect(after("hello")).not.toContain("\x1b[?1049l");
  expect(after("\x1b[?1049h")).toContain("\x1b[?1049l");
  expect(after("\x1b[?10", "49h")).toContain("\x1b[?1049l");
  expect(after("\x1b[?1049h", "\x1b[?1049l")).not.toContain("\x1b[?1049l");
});

test("levels of the kitty keyboard go before and behind the alternate screen", () => {
  expect(after("\x1b[?1049h\x1b[>1u\x1b[>5u")).toMatch(/\x1b\[<2u.*\x1b\[\?1049l\x1b\[<2u/s);
  expect(after("plain")).not.toContain("u");
});

test("colours of the terminal's own palette are taken back when they were set, not when they were asked for", () => {
  expect(after("\x1b]11;?\x07\x1b]4;1;?\x07")).not.toContain("\x1b]1");
  expect(after("\x1b]11;#000000\x07\x1b]4;1;red\x07")).toContain("\x1b]111\x1b\\\x1b]104\x1b\\");
});

test("what a terminal showed is scrolled away before it is cleared", () => {
  expect(takeTerminal(3)).toBe("\x1b[22;0t\x1b[0m\x1b[3;1H\n\n\n\x1b[H\x1b[2J");
});

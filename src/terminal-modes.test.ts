import { expect, test } from "bun:test";
import { eventsOf, type TerminalEvent } from "./terminal-events.ts";
import { TerminalModes } from "./terminal-modes.ts";
import { TerminalScanner } from "./terminal-scan.ts";

function follow(output: string): { modes: TerminalModes; events: TerminalEvent[] } {
  const modes = new TerminalModes();
  const events: TerminalEvent[] = [];
  for (const { sequence } of new TerminalScanner().scan(new TextEncoder().encode(output)).found) {
    events.push(...eventsOf(sequence, modes));
    modes.apply(sequence);
  }
  return { modes, events };
}

test.each([
  ["", ""],
  ["\x1b[?25l", "\x1b[?25l"],
  ["\x1b[?25l\x1b[?25h", ""],
  ["\x1b[?1000;1006h", "\x1b[?1006h"],
  ["\x1b[?1006h\x1bc", ""],
  ["\x1b[?25l\x1b[!p", ""],
  ["\x1b[3 q", "\x1b[3 q"],
  ["\x1b[>1u\x1b[>5u", "\x1b[>1u\x1b[>5u"],
  ["\x1b]0;my title\x07", "\x1b]2;my title\x1b\\"],
])("after %j a screen restores %j", (output, restored) => {
  expect(follow(output).modes.restore()).toBe(restored);
});

test.each<[string, TerminalEvent[]]>([
  ["\x07", [{ type: "bell" }]],
  [
    "\x1b]0;a\x07\x1b]2;a\x07\x1b]2;b\x07",
    [
      { type: "title_change", value: "a" },
      { type: "title_change", value: "b" },
    ],
  ],
  ["\x1b]9;done\x07", [{ type: "notification", body: "done", source: "osc9" }]],
  ["\x1b]9;4;1;50\x07", []],
  ["\x1b]99;t=hi;b=there\x07", [{ type: "notification", title: "hi", body: "there", source: "osc99" }]],
  ["\x1b]777;notify;hi;a;b\x07", [{ type: "notification", title: "hi", body: "a;b", source: "osc777" }]],
  ["\x1b]777;precmd\x07", []],
  ["\x1b[?1004h\x1b[?1004h", [{ type: "focus_request" }]],
  ["\x1b[?25h\x1b[?25l\x1b[?25h", [{ type: "cursor_visible" }]],
])("%j raises %j", (output, events) => {
  expect(follow(output).events).toEqual(events);
});

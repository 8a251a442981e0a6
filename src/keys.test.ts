import { expect, test } from "bun:test";
import { KEY_NAMES, parseKey } from "./keys.ts";

const plain = { applicationCursor: false };

test.each([
  ["enter", "\r"],
  ["Return", "\r"],
  ["tab", "\t"],
  ["shift-tab", "\x1b[Z"],
  ["esc", "\x1b"],
  ["space", " "],
  ["ctrl-space", "\0"],
  ["backspace", "\x7f"],
  ["ctrl-backspace", "\b"],
  ["alt-enter", "\x1b\r"],
  ["delete", "\x1b[3~"],
  ["ctrl-delete", "\x1b[3;5~"],
  ["up", "\x1b[A"],
  ["LEFT", "\x1b[D"],
  ["shift-up", "\x1b[1;2A"],
  ["ctrl-alt-right", "\x1b[1;7C"],
  ["home", "\x1b[H"],
  ["end", "\x1b[F"],
  ["pgup", "\x1b[5~"],
  ["pagedown", "\x1b[6~"],
  ["f1", "\x1bOP"],
  ["f4", "\x1bOS"],
  ["shift-f1", "\x1b[1;2P"],
  ["f5", "\x1b[15~"],
  ["f12", "\x1b[24~"],
  ["ctrl-c", "\x03"],
  ["c-c", "\x03"],
  ["C-C", "\x03"],
  ["ctrl+\\", "\x1c"],
  ["ctrl-[", "\x1b"],
  ["alt-x", "\x1bx"],
  ["m-X", "\x1bX"],
  ["alt--", "\x1b-"],
  ["-", "-"],
  ["a", "a"],
  ["é", "é"],
])("%s", (name, bytes) => {
  expect(parseKey(name, plain)).toEqual({ bytes });
});

test("cursor keys follow the mode that the program has set, unless they are modified", () => {
  const keyboard = { applicationCursor: true };
  const bytes = ["up", "home", "shift-up", "pgup"].map((name) => parseKey(name, keyboard));
  expect(bytes).toEqual(["\x1bOA", "\x1bOH", "\x1b[1;2A", "\x1b[5~"].map((one) => ({ bytes: one })));
});

test.each([
  ["entr", "did you mean enter?"],
  ["ctrl-lft", "did you mean ctrl-left?"],
  ["f13", "did you mean f1"],
  ["hyper-x", "a key is enter"],
  ["constructor", "a key is enter"],
  ["ctrl-1", "did you mean ctrl-f1?"],
  ["ctrl-é", "a key is enter"],
])("%s is no key", (name, hint) => {
  const parsed = parseKey(name, plain);
  expect(parsed).toEqual({ problem: expect.stringContaining(`is "${name}", which is no key; ${hint}`) });
});

test("every name is a key", () => {
  for (const name of KEY_NAMES) expect(parseKey(name, plain)).toHaveProperty("bytes");
});

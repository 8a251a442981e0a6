import { expect, test } from "bun:test";
import fc from "fast-check";
import { quoteForShell } from "../harness.ts";
import { unquoted } from "./shell-word.ts";

test.each([
  ["", ""],
  ["plain", "plain"],
  ["'a b'", "a b"],
  ['"a b"', "a b"],
  ["'a", "a"],
  ['"a', "a"],
  ["a\\ b", "a b"],
  ["a\\", "a"],
  ['"a\\"b\\c"', 'a"b\\c'],
  [`--dir='a'"b"c`, "--dir=abc"],
  ["$(touch x)", "$(touch x)"],
  ['"$HOME/x', "$HOME/x"],
])("%s is %s", (written, word) => {
  expect(unquoted(written)).toBe(word);
});

test("what is quoted for a shell is read back, and nothing makes it throw", () => {
  fc.assert(fc.property(fc.string(), (text) => unquoted(quoteForShell(text)) === text));
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("'", '"', "\\", "a", "$", "(") }), unquotes));
});

function unquotes(text: string): void {
  expect(unquoted(text).length).toBeLessThanOrEqual(text.length);
}

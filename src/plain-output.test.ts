import { expect, test } from "bun:test";
import { plainTail } from "./plain-output.ts";

const encode = (text: string) => new TextEncoder().encode(text);

test.each<[string, string[] | null]>([
  ["", []],
  ["one\r\ntwo\r\n", ["one", "two"]],
  ["\x1b[1;31mred\x1b[0m  \r\n\r\n", ["red"]],
  ["10%\r50%\r100%\r\n", ["100%"]],
  ["abcdef\rxy\r\n", ["xycdef"]],
  ["a\tb", ["a       b"]],
  ["\x1b]0;title\x07text\x07", ["text"]],
  ["a\x1b[2Jb", null],
  ["a\bb", null],
  ["\x1b[31", null],
])("%j reads %j", (output, lines) => {
  expect(plainTail(encode(output), 200)).toEqual(lines);
});

test("only the last lines, also of long output", () => {
  const output = Array.from({ length: 100_000 }, (_, index) => `line ${index}\r\n`).join("");
  const lines = plainTail(encode(output), 200)!;
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([200, "line 99800", "line 99999"]);
});

test("one endless line needs a screen", () => {
  expect(plainTail(encode("x".repeat(100_000)), 200)).toBeNull();
});

import { describe, expect, test } from "bun:test";
import { behindControls, endOfFlow } from "./terminal-flow.ts";

const encode = (text: string) => new TextEncoder().encode(text);

describe("behind the last control that does more than flow", () => {
  const table: [string, number][] = [
    ["", 0],
    ["a line\r\n\ta\b\x07 é \u00a0 \x7f \x1b[31m", 0],
    ["a\x0eb", 2],
    ["a\x0b\x00b\x0c", 5],
    ["é\u009b2A", 4],
    ["\u0084\u0085x", 4],
  ];
  test.each(table)("%j", (text, behind) => {
    expect(behindControls(encode(text))).toBe(behind);
  });

  test("wherever it stands in a long text", () => {
    for (const at of [0, 1, 68_926, 68_927, 68_928, 134_462, 134_463, 134_464, 199_998]) {
      const bytes = new Uint8Array(200_000).fill(0x61);
      bytes.set([0xc2, 0x90], at);
      expect(behindControls(bytes)).toBe(at + 2);
    }
  });
});

describe("the end of a flow", () => {
  const table: [string, number, string | null][] = [
    ["a\r\nb\r\nc\r\nd", 2, "\r\nc\r\nd"],
    ["a\r\nb\r\nc\r\n", 2, "\r\nc\r\n"],
    ["a\r\nb\r\nc", 3, null],
    ["a\nb\nc\n", 2, null],
    ["a\rx\nb\nc\n", 2, "\rx\nb\nc\n"],
    ["\x1b[31ma\x1b[1;4m\x1b[32m\r\nb\x1b[31m\r\nc\r\n", 2, "\x1b[1;4m\x1b[32m\x1b[31m\r\nc\r\n"],
    ["\x1b[31ma\x1b[0m\x1b[K\x1b(B\r\nb\r\n", 1, "\x1b[0m\x1b(B\r\n"],
    ["\x1b[m\x1b[0;1m\x1b[0;1ma\r\n", 1, "\x1b[m\x1b[0;1m\r\n"],
  ];
  test.each(table)("%j, %d lines", (text, lines, end) => {
    const found = endOfFlow(encode(text), lines);
    expect(found && new TextDecoder().decode(found)).toBe(end);
  });
});

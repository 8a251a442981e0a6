import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatTable, oneLine, truncate } from "./table.ts";

test("columns line up, without trailing spaces", () => {
  expect(
    formatTable([
      ["agent", "state", "pid"],
      ["a", "running", "12"],
      ["long-name", "", ""],
    ]),
  ).toEqual(["agent      state    pid", "a          running  12", "long-name"]);
});

test("wide characters count two", () => {
  expect(
    formatTable([
      ["日本", "x"],
      ["abcde", "y"],
    ]),
  ).toEqual(["日本   x", "abcde  y"]);
});

test("a colour is put on after measuring", () => {
  const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
  expect(
    formatTable([
      [{ text: "up", paint: red }, "x"],
      ["down", "y"],
    ]),
  ).toEqual(["\u001b[31mup\u001b[39m    x", "down  y"]);
});

test("indent, gap and right alignment", () => {
  expect(
    formatTable(
      [
        ["a", "7", "x"],
        ["b", "1234", "y"],
      ],
      { indent: 2, gap: 1, right: [1] },
    ),
  ).toEqual(["  a    7 x", "  b 1234 y"]);
});

test("only the last column is cut, and only when a width is given", () => {
  const rows = [["name", "a long reason that goes on"]];
  expect(formatTable(rows)).toEqual(["name  a long reason that goes on"]);
  expect(formatTable(rows, { width: 20 })).toEqual(["name  a long reason…"]);
  expect(formatTable(rows, { width: 3 })).toEqual(["name  a long …"]);
});

test("control characters of others never reach the terminal", () => {
  expect(oneLine("a\n\tb\u001b[2Jc\u009b\u007f")).toBe("a b?[2Jc??");
  expect(formatTable([["x\ny", "z"]])).toEqual(["x y  z"]);
});

test("a cut text fits, and is a beginning of the whole", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.integer({ min: 1, max: 20 }),
      (text, columns) => {
        const cut = truncate(text, columns);
        expect(Bun.stringWidth(cut)).toBeLessThanOrEqual(columns);
        expect(cut === text || (cut.endsWith("…") && text.startsWith(cut.slice(0, -1)))).toBe(true);
      },
    ),
  );
});

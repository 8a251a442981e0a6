import { expect, test } from "bun:test";
import fc from "fast-check";
import { TextFollower } from "./text-follower.ts";

function follow(...chunks: string[]): { lines: string[]; rest: string[] } {
  const follower = new TextFollower();
  const lines = chunks.flatMap((chunk) => follower.push(chunk));
  return { lines, rest: follower.flush() };
}

test.each<[name: string, output: string, lines: string[], rest: string[]]>([
  ["lines", "one\r\ntwo\r\n\r\nthree", ["one", "two", ""], ["three"]],
  ["the same line again", "tick\ntick\n", ["tick", "tick"], []],
  ["colours and titles", "\x1b[1;31mred\x1b[0m \x1b]2;title\x07on\n", ["red on"], []],
  ["a progress bar", "10%\r50%\r100%\r\n", ["100%"], []],
  ["a shorter text over a longer one", "downloading\rdone\x1b[K\n", ["done"], []],
  ["tabs, backspace, blanks at the end", "a\tb\x08c   \n", ["a       c"], []],
  ["gaps by cursor", "a\x1b[3Cb\x1b[2Dc\x1b[1Gd\n", ["d  cb"], []],
  ["other scripts", "schön 好 👍🏽\n", ["schön 好 👍🏽"], []],
  [
    "a drawn screen, drawn twice",
    "\x1b[2J\x1b[Hhead\nbody 1\x1b[Hhead\nbody 2\x1b[H",
    ["head", "body 1", "body 2"],
    [],
  ],
  ["a redrawn frame", "> ask\n\x1b[1A\x1b[2K> ask\nanswer\n", ["> ask", "answer"], []],
  ["a line that never ends", "x".repeat(20_000), ["x".repeat(16_384)], ["x".repeat(3_616)]],
  ["a string that never ends", `\x1b]2;${"x".repeat(5_000)}`, [], []],
])("%s", (_name, output, lines, rest) => {
  expect(follow(output)).toEqual({ lines, rest });
});

test("a screen in place of lost output says what is new in it", () => {
  const follower = new TextFollower();
  follower.push("one\ntwo\nthr");
  expect(follower.resume("\x1b[2J\x1b[Hone\r\ntwo\r\nthree\r\nfour")).toEqual(["three", "four"]);
  expect(follower.push("four\nfour\n")).toEqual(["four", "four"]);
});

test("it does not matter how the output was cut", () => {
  const piece = fc.constantFrom(
    "a",
    "好",
    " ",
    "\n",
    "\r",
    "\t",
    "\b",
    "\x1b[31m",
    "\x1b[2J",
    "\x1b[5;1H",
    "\x1b[3C",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(60), fc.nat(60), (pieces, a, b) => {
      const output = pieces.join("");
      const [first, second] = [Math.min(a, b), Math.max(a, b)];
      const cut = [output.slice(0, first), output.slice(first, second), output.slice(second)];
      expect(follow(...cut)).toEqual(follow(output));
    }),
  );
});

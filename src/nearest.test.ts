import { expect, test } from "bun:test";
import fc from "fast-check";
import { editDistance, nearest } from "./nearest.ts";

const WORDS = [
  "init",
  "add",
  "up",
  "down",
  "ls",
  "restart",
  "reset",
  "release",
  "network",
  "fast-fail-window",
];

test.each([
  ["inti", "init"],
  ["dwon", "down"],
  ["DOWN", "down"],
  ["lss", "ls"],
  ["networ", "network"],
  ["netwrok", "network"],
  ["fast-fail-windwo", "fast-fail-window"],
  ["fast", "fast-fail-window"],
  ["res", null],
  ["resart", "restart"],
  ["xyzzy", null],
  ["q", null],
  ["", null],
])("%p is taken for %p", (typed, meant) => {
  expect(nearest(typed, WORDS)).toBe(meant);
});

test("the distance is symmetric, zero only for equals, and at most the longer word", () => {
  const word = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      expect(distance).toBe(editDistance(b, a));
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

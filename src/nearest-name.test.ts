import { expect, test } from "bun:test";
import { nearestName } from "./nearest-name.ts";

test.each([
  ["harnes", "harness"],
  ["Role", "role"],
  ["rloe", "role"],
  ["strategie", "strategy"],
  ["ptys", "pty"],
  ["colour", null],
  ["x", null],
])("%s is nearest to %p", (name, expected) => {
  expect(nearestName(name, ["harness", "role", "strategy", "pty", "env"])).toBe(expected);
});

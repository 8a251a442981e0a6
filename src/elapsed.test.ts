import { expect, test } from "bun:test";
import { formatElapsed } from "./elapsed.ts";

test.each([
  [-5_000, "0s"],
  [999, "0s"],
  [59_999, "59s"],
  [60_000, "1m00s"],
  [125_000, "2m05s"],
  [3_600_000, "1h00m"],
  [11_220_000, "3h07m"],
  [86_400_000, "1d0h"],
  [1_051_200_000, "12d4h"],
])("%d ms is %s", (elapsedMs, text) => {
  expect(formatElapsed(elapsedMs)).toBe(text);
});

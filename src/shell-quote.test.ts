import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { quoteForShell } from "./shell-quote.ts";

test.each([
  ["plain", "'plain'"],
  ["it's", "'it'\\''s'"],
  ["", "''"],
  ['$HOME `id` "x" \\ !\n*', "'$HOME `id` \"x\" \\ !\n*'"],
])("%p is one word, and a shell reads the same text back", (text, quoted) => {
  expect(quoteForShell(text)).toBe(quoted);
  expect(spawnSync("sh", ["-c", `printf %s ${quoted}`], { encoding: "utf8" }).stdout).toBe(text);
});

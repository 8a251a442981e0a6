import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cleanUp, freshNetwork, start } from "../../test/fakes/network.ts";
import { sweepTemporaries } from "./sweep.ts";

afterEach(cleanUp);

test("the sweep takes what dead writers left, and nothing else", async () => {
  const paths = freshNetwork();
  mkdirSync(paths.ledgers, { recursive: true });
  const ended = start(["true"]);
  await ended.exited;
  const files = {
    [`box.a.json.tmp.${ended.pid}.0a1b2c3d`]: 3_600,
    [`box.b.json.tmp.${ended.pid}.0a1b2c3d`]: 0,
    [`box.c.json.tmp.${process.pid}.0a1b2c3d`]: 3_600,
    "box.d.json": 3_600,
    "box.e.json.tmp": 3_600,
  };
  for (const folder of [paths.pty, paths.ledgers]) {
    for (const [name, ageSeconds] of Object.entries(files)) {
      writeFileSync(join(folder, name), "");
      const then = Date.now() / 1000 - ageSeconds;
      utimesSync(join(folder, name), then, then);
    }
  }
  expect(sweepTemporaries(paths)).toBe(2);
  const kept = Object.keys(files).filter((name) => !name.startsWith("box.a"));
  expect(readdirSync(paths.ledgers).sort()).toEqual(kept.toSorted());
});

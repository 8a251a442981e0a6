import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, truncateSync, utimesSync } from "node:fs";
import type { Clock } from "../system/clock.ts";
import { CatalogFixture, identities, messages, toml } from "./catalog-fixture.ts";
import { readCatalog } from "./read.ts";

let catalog: CatalogFixture;
beforeEach(() => {
  catalog = new CatalogFixture();
});
afterEach(() => catalog.remove());

test("a file that was just written is waited for", async () => {
  catalog.put("new.toml", toml("new"));
  const started = performance.now();
  expect(identities(await readCatalog({ catalogDir: catalog.catalogDir }))).toEqual(["new.toml: new"]);
  const tookMs = performance.now() - started;
  expect(tookMs).toBeGreaterThan(150);
  expect(tookMs).toBeLessThan(1500);
});

test("a file cut off and written again counts when it is whole", async () => {
  const file = catalog.put("a.toml", toml("a"));
  truncateSync(file);
  const reading = readCatalog({ catalogDir: catalog.catalogDir });
  const text = toml("a", "retired = true\n");
  for (let at = 0; at < text.length; at += 10) {
    appendFileSync(file, text.slice(at, at + 10));
    await Bun.sleep(50);
  }
  expect((await reading).files[0]?.entry?.declaration.retired).toBe(true);
});

test("one that never rests does not count, and does not hold up the others for ever", async () => {
  catalog.put("good.toml", toml("good"));
  const file = catalog.put("busy.toml", toml("busy"));
  const timer = setInterval(() => appendFileSync(file, "# more\n"), 20);
  try {
    const reading = await readCatalog({ catalogDir: catalog.catalogDir, maxWaitMs: 600 });
    expect(identities(reading)).toEqual(["busy.toml: null", "good.toml: good"]);
    expect(messages(reading)).toEqual([
      "error busy.toml:null is still being written after 0.6 s: not read yet",
    ]);
  } finally {
    clearInterval(timer);
  }
});

test("a rename into place is a change too, whatever its time; another machine's clock is not", async () => {
  const file = catalog.put("a.toml", toml("a"));
  utimesSync(file, 1, 1);
  const waits: number[] = [];
  let nowMs = Date.now();
  const clock: Clock = {
    now: () => new Date(nowMs),
    sleep: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
  };
  expect(identities(await readCatalog({ catalogDir: catalog.catalogDir, clock }))).toEqual(["a.toml: a"]);
  expect(waits).toHaveLength(1);
  utimesSync(file, 4e9, 4e9);
  nowMs += 10_000;
  expect(identities(await readCatalog({ catalogDir: catalog.catalogDir, clock }))).toEqual(["a.toml: a"]);
  expect(waits).toHaveLength(1);
});

import { afterEach, describe, expect, test } from "bun:test";
import process from "node:process";
import { cleanUp, start, until } from "../../test/fakes/network.ts";
import { type ProcessResources, parseProcResources, parsePsResources, resourcesOf } from "./resources.ts";

afterEach(cleanUp);

/** 150 and 50 ticks of processor time, born 1000 ticks after the boot. */
const STAT = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 1000 1 1";

describe("from /proc", () => {
  test.each<[string, string, string, ProcessResources | null]>([
    ["two seconds of ten", STAT, "20.00 5.00", { rssKb: 1816, cpuPercent: 20 }],
    ["a tenth is the finest", STAT, "610.00 5.00", { rssKb: 1816, cpuPercent: 0.3 }],
    ["just born", STAT, "10.00 5.00", { rssKb: 1816, cpuPercent: 0 }],
    ["a torn line", "7 (a) S 1", "20.00 5.00", null],
  ])("%s", (_, stat, uptime, expected) => {
    expect(parseProcResources(stat, "Name:\ta\nVmRSS:\t    1816 kB\nThreads:\t1\n", uptime)).toEqual(
      expected,
    );
  });

  test("a zombie has none", () => {
    expect(parseProcResources(STAT, "Name:\ta\nState:\tZ (zombie)\n", "20.00 5.00")).toBeNull();
  });
});

test.each<[string, ProcessResources | null]>([
  ["  1816   0.3\n", { rssKb: 1816, cpuPercent: 0.3 }],
  ["  1816   0,3\n", { rssKb: 1816, cpuPercent: 0.3 }],
  ["\n", null],
  ["rss cpu", null],
])("from ps: %j", (line, expected) => {
  expect(parsePsResources(line)).toEqual(expected);
});

test("of a process that lives, and of one that does not", async () => {
  const own = resourcesOf(process.pid);
  expect(own?.rssKb).toBeGreaterThan(10_000);
  expect(own?.cpuPercent).toBeGreaterThan(0);
  const child = start(["sleep", "100"]);
  await until(() => (resourcesOf(child.pid)?.rssKb ?? 0) > 100, "its program is in memory");
  child.kill("SIGKILL");
  await child.exited;
  expect(resourcesOf(child.pid)).toBeNull();
});

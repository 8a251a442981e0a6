import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanUp, freshFolder, freshNetwork, startScript, until } from "../../test/fakes/network.ts";
import type { ConvoyEvent } from "../events.ts";
import { EventLogReader } from "./event-log-reader.ts";
import { watchEventLog } from "./event-log-watch.ts";
import { appendEvents } from "./events-log.ts";

afterEach(cleanUp);

const event = (n: number): ConvoyEvent => ({ ts: "2026-11-30T10:00:00.000Z", type: "detach", kept: n });
const numbers = (reader: EventLogReader) =>
  reader.read().events.map((found) => (found.type === "detach" ? found.kept : found.type));

test("what is new is read once, over rotations, also of several at a time", () => {
  const { events: path } = freshNetwork();
  const reader = new EventLogReader(path);
  expect(numbers(reader)).toEqual([]);
  appendEvents(path, [event(1)], 60);
  expect(numbers(reader)).toEqual([1]);
  expect(numbers(reader)).toEqual([]);
  for (let n = 2; n <= 7; n += 1) appendEvents(path, [event(n)], 60);
  expect(numbers(reader)).toEqual([2, 3, 4, 5, 6, 7]);
  // More than is kept: the file that was being read is gone from its folder, and still read to its end.
  for (let n = 8; n <= 20; n += 1) appendEvents(path, [event(n)], 60);
  expect(numbers(reader)).toEqual([8, 17, 18, 19, 20]);
  reader.close();
});

test("a line counts when its end is there, and characters are not broken", () => {
  const { events: path } = freshNetwork();
  const reader = new EventLogReader(path);
  const line = Buffer.from('{"ts":"2026","type":"warning","message":"größer"}\n');
  mkdirSync(dirname(path), { recursive: true });
  const half = line.indexOf(0xc3) + 1;
  appendFileSync(path, line.subarray(0, half));
  expect([reader.read(), reader.endsMidLine()]).toEqual([{ events: [], skipped: 0 }, true]);
  appendFileSync(path, line.subarray(half));
  const expected: unknown[] = [{ ts: "2026", type: "warning", message: "größer" }];
  expect<unknown>(reader.read()).toEqual({ events: expected, skipped: 0 });
  appendFileSync(path, 'torn{"\n');
  expect([reader.read(), reader.endsMidLine()]).toEqual([{ events: [], skipped: 1 }, false]);
  reader.close();
});

test("a log that a person emptied, removed or moved away is read on", () => {
  const { events: path } = freshNetwork();
  const reader = new EventLogReader(path);
  appendEvents(path, [event(1), event(2)]);
  expect(numbers(reader)).toEqual([1, 2]);
  truncateSync(path, 0);
  appendEvents(path, [event(3)]);
  expect(numbers(reader)).toEqual([3]);
  rmSync(path);
  appendEvents(path, [event(4)]);
  expect(numbers(reader)).toEqual([4]);
  renameSync(path, `${path}.old`);
  appendEvents(path, [event(5)]);
  expect(numbers(reader)).toEqual([5]);
  reader.close();
});

test("a log that cannot be read is said", () => {
  const folder = freshFolder();
  mkdirSync(join(folder, "events.jsonl"));
  const reader = new EventLogReader(join(folder, "events.jsonl"));
  expect(() => reader.read()).toThrow(`cannot read ${folder}/events.jsonl: EISDIR`);
  reader.close();
});

test("loses no line and repeats none while processes append and rotate", async () => {
  const { events: path } = freshNetwork();
  const source = (who: string) => `
    import { appendEvents } from ${JSON.stringify(join(import.meta.dir, "events-log.ts"))};
    for (let n = 0; n < 150; n += 1)
      appendEvents(${JSON.stringify(path)}, [{ ts: "2026", type: "${who}", n }], 4_000);`;
  const reader = new EventLogReader(path);
  const found: unknown[] = [];
  const watching = watchEventLog(path, () => void found.push(...reader.read().events));
  const writers = ["a", "b"].map((who) => startScript(source(who)));
  expect(await Promise.all(writers.map((writer) => writer.exited))).toEqual([0, 0]);
  found.push(...reader.read().events);
  watching.close();
  reader.close();
  const all = (found as { type: string; n: number }[]).map(({ type, n }) => `${type}${n}`);
  expect([all.length, new Set(all).size]).toEqual([300, 300]);
});

test("changes are told at once; a folder that comes later, or that came anew, by the poll", async () => {
  const { events: path } = freshNetwork();
  let told = 0;
  const watching = watchEventLog(path, () => (told += 1), 60_000);
  mkdirSync(dirname(path), { recursive: true });
  const early = told;
  watching.close();
  const fast = watchEventLog(path, () => (told += 1), 60_000);
  writeFileSync(path, "x\n");
  await until(() => told > early, "the watch to tell of a write");
  fast.close();
  const slow = watchEventLog(path, () => (told += 1), 5);
  rmSync(dirname(path), { recursive: true });
  const before = told;
  await until(() => told > before + 1, "the poll to tell without a folder");
  slow.close();
});

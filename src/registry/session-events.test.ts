import { afterEach, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, freshNetwork, start, startScript } from "../../test/fakes/network.ts";
import { sessionPaths } from "../system/paths.ts";
import { appendSessionEvent } from "./session-events.ts";

afterEach(cleanUp);

const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").slice(0, -1);

test("an event is one line with session, type and time first, for this user alone", () => {
  const { pty } = freshNetwork();
  const path = sessionPaths(pty, "box.a").events;
  appendSessionEvent(pty, "box.a", { exitCode: 3, type: "session_exit", ts: "2026-11-30T10:00:00.000Z" });
  appendSessionEvent(pty, "box.a", { type: "bell" });
  const [first, second] = linesOf(path);
  expect(first).toBe(
    '{"session":"box.a","type":"session_exit","ts":"2026-11-30T10:00:00.000Z","exitCode":3}',
  );
  expect(JSON.parse(second ?? "")).toEqual({ session: "box.a", type: "bell", ts: expect.any(String) });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(pty)).toEqual(["box.a.events.jsonl"]);
});

test("the thousandth line cuts the log to the newest five hundred, whoever wrote the others", () => {
  const { pty } = freshNetwork();
  const path = sessionPaths(pty, "box.a").events;
  for (let n = 1; n <= 400; n += 1) appendSessionEvent(pty, "box.a", { type: "bell", n });
  for (let n = 401; n <= 998; n += 1) appendFileSync(path, `{"n":${n}}\n`);
  appendSessionEvent(pty, "box.a", { type: "bell", n: 999 });
  expect(linesOf(path)).toHaveLength(999);
  appendSessionEvent(pty, "box.a", { type: "bell", n: 1_000 });
  const numbers = linesOf(path).map((line) => JSON.parse(line).n);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => 501 + index));
  appendSessionEvent(pty, "box.a", { type: "bell", n: 1_001 });
  expect(linesOf(path)).toHaveLength(501);
});

test("a lock that another program keeps delays an event, and does not lose it", () => {
  const { pty } = freshNetwork();
  const paths = sessionPaths(pty, "box.a");
  appendFileSync(paths.eventsLock, String(start(["sleep", "60"]).pid));
  appendSessionEvent(pty, "box.a", { type: "bell" });
  expect(linesOf(paths.events)).toHaveLength(1);
});

test("two processes that append and cut lose no line of the newest", async () => {
  const { pty } = freshNetwork();
  const path = sessionPaths(pty, "box.a").events;
  const source = (who: string) => `
    import { appendSessionEvent } from ${JSON.stringify(join(import.meta.dir, "session-events.ts"))};
    for (let n = 1; n <= 600; n += 1) appendSessionEvent(${JSON.stringify(pty)}, "box.a", { type: "bell", who: "${who}", n });`;
  const workers = [startScript(source("a")), startScript(source("b"))];
  expect(await Promise.all(workers.map((worker) => worker.exited))).toEqual([0, 0]);
  const events = linesOf(path).map((line) => JSON.parse(line));
  expect(events.length).toBeGreaterThanOrEqual(500);
  expect(events.length).toBeLessThan(1_000);
  for (const who of ["a", "b"]) {
    const numbers = events.filter((event) => event.who === who).map((event) => event.n);
    const first = numbers[0] ?? 601;
    expect(numbers).toEqual(Array.from({ length: 601 - first }, (_, index) => first + index));
  }
}, 20_000);

import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, freshFolder, freshNetwork, startScript } from "../../test/fakes/network.ts";
import type { ConvoyEvent } from "../events.ts";
import { appendEvents, readEventLog } from "./events-log.ts";

afterEach(cleanUp);

describe("the events log", () => {
  const event = (n: number): ConvoyEvent => ({ ts: "2026-11-30T10:00:00.000Z", type: "detach", kept: n });

  test("is read as it was written, over lines that are torn or not ours", () => {
    const { events: path } = freshNetwork();
    expect(readEventLog(path)).toEqual({ events: [], skipped: 0 });
    appendEvents(path, [event(1), event(2)]);
    appendFileSync(path, '{"ts":"2026","ty');
    appendEvents(path, [event(3)]);
    appendEvents(path, []);
    expect(readEventLog(path)).toEqual({ events: [event(1), event(2), event(3)], skipped: 1 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("moves on past its size; three old ones are kept", () => {
    const { events: path } = freshNetwork();
    for (let n = 1; n <= 9; n += 1) appendEvents(path, [event(n)], 60);
    expect(readdirSync(join(path, "..")).sort()).toEqual([
      "events.jsonl",
      "events.jsonl.1",
      "events.jsonl.2",
      "events.jsonl.3",
    ]);
    expect(readEventLog(path).events.map((found) => found.type === "detach" && found.kept)).toEqual([
      3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  test("loses no line between processes that append and rotate together", async () => {
    const { events: path } = freshNetwork();
    const source = (who: string) => `
      import { appendEvents } from ${JSON.stringify(join(import.meta.dir, "events-log.ts"))};
      for (let n = 0; n < 150; n += 1)
        appendEvents(${JSON.stringify(path)}, [{ ts: "2026", type: "${who}", n }], 8_000);`;
    const workers = ["a", "b", "c"].map((who) => startScript(source(who)));
    expect(await Promise.all(workers.map((worker) => worker.exited))).toEqual([0, 0, 0]);
    const { events, skipped } = readEventLog(path);
    expect([events.length, skipped]).toEqual([450, 0]);
    expect(existsSync(`${path}.1`)).toBe(true);
  });

  test("that cannot be written is said", () => {
    const folder = freshFolder();
    writeFileSync(join(folder, "file"), "");
    expect(() => appendEvents(join(folder, "file", "events.jsonl"), [event(1)])).toThrow(
      `cannot create ${folder}/file`,
    );
  });
});

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { ledgerFixture, recordFixture } from "../../test/fakes/ledgers.ts";
import { cleanUp, freshNetwork } from "../../test/fakes/network.ts";
import { sessionPaths } from "../system/paths.ts";
import { changeLedger, readLedger } from "./changes.ts";
import { readSession } from "./read.ts";
import { appendSessionEvent } from "./session-events.ts";
import { patchTags } from "./tags.ts";

afterEach(cleanUp);

async function fresh(record: string | null, ledger = true) {
  const { pty } = freshNetwork();
  const paths = sessionPaths(pty, "box.a");
  if (record !== null) writeFileSync(paths.record, record);
  if (ledger)
    await changeLedger(pty, "box.a", () => ledgerFixture("box.a", { tags: { role: "agent", old: "1" } }));
  return {
    pty,
    recordText: () => readFileSync(paths.record, "utf8"),
    ledgerTags: () => readLedger(pty, "box.a")?.tags,
  };
}

describe("patchTags", () => {
  test("sets and removes in record and ledger; others' members and tags stay", async () => {
    const text = JSON.stringify({ theirs: 1, ...recordFixture({ tags: { old: "1", ":l7-x": "2" } }) });
    const { pty, recordText, ledgerTags } = await fresh(text);
    await patchTags(pty, "box.a", { "strategy.status": "flapping" }, ["old", "never-there"]);
    expect(JSON.parse(recordText())).toEqual({
      theirs: 1,
      ...recordFixture({ tags: { ":l7-x": "2", "strategy.status": "flapping" } }),
    } as never);
    expect(ledgerTags()).toEqual({ role: "agent", "strategy.status": "flapping" });
  });

  test("the last tag's removal removes the member, as pty does", async () => {
    const { pty, recordText } = await fresh(JSON.stringify(recordFixture({ tags: { old: "1" } })));
    await patchTags(pty, "box.a", {}, ["old"]);
    expect(JSON.parse(recordText())).toEqual(recordFixture() as never);
  });

  test("a torn record is left to its host; the ledger keeps the tags", async () => {
    const { pty, recordText, ledgerTags } = await fresh('{"comm');
    await patchTags(pty, "box.a", { a: "1" }, ["old"]);
    expect(recordText()).toBe('{"comm');
    expect(ledgerTags()).toEqual({ role: "agent", a: "1" });
  });

  test("a session of pty's own has no ledger, and gets none", async () => {
    const { pty, recordText } = await fresh(JSON.stringify(recordFixture()), false);
    await patchTags(pty, "box.a", { a: "1" }, []);
    expect(JSON.parse(recordText()).tags).toEqual({ a: "1" });
    expect(readLedger(pty, "box.a")).toBeNull();
  });

  test("with neither it says so", async () => {
    const { pty } = await fresh(null, false);
    expect(patchTags(pty, "box.a", { a: "1" }, [])).rejects.toThrow(
      "session box.a has neither a record nor a ledger to tag",
    );
  });
});

describe("a writer that reads and renames without a lock", () => {
  const STATUS = "strategy.status";
  const end = { exitCode: 1, exitedAt: "2026-11-30T10:00:30.000Z", lastLines: [], error: null };

  /** A parked session, its record as it was before, and what another writer makes of a record. */
  async function parked() {
    const { pty } = freshNetwork();
    const paths = sessionPaths(pty, "box.a");
    const tags = { role: "agent", "strategy.consecutive-fast-fails": "2" };
    await changeLedger(pty, "box.a", () => ledgerFixture("box.a", { tags, end }));
    writeFileSync(paths.record, JSON.stringify(recordFixture({ tags })));
    await patchTags(pty, "box.a", { [STATUS]: "flapping", "strategy.consecutive-fast-fails": "3" }, []);
    const parkedTags = { role: "agent", "strategy.consecutive-fast-fails": "3", [STATUS]: "flapping" };
    const write = (value: Record<string, string>) =>
      writeFileSync(paths.record, JSON.stringify(recordFixture({ tags: value })));
    const log = (previous: object, value: object) =>
      appendSessionEvent(pty, "box.a", { type: "tags_change", previous, value });
    const inRecord = () => JSON.parse(readFileSync(paths.record, "utf8")).tags;
    const seen = async () => (await readSession(pty, "box.a"))?.tags;
    const inLedger = () => readLedger(pty, "box.a")?.tags;
    return { pty, path: paths.record, before: tags, parkedTags, write, log, inRecord, seen, inLedger };
  }

  test("that undid a change without knowing of it does not hide it, and the next change makes it again", async () => {
    const { pty, before, parkedTags, write, log, seen, inRecord, inLedger } = await parked();
    const stale = { ...before, color: "red" };
    write(stale);
    log(before, stale);
    expect(await seen()).toEqual({ ...parkedTags, color: "red" });
    expect(inRecord()).toEqual(stale);
    await patchTags(pty, "box.a", {}, []);
    expect([inRecord(), await seen()]).toEqual(Array(2).fill({ ...parkedTags, color: "red" }));
    expect(inLedger()).toEqual(parkedTags);
  });

  test("that undid what is now to be removed, too", async () => {
    const { pty, before, write, log, seen, inRecord } = await parked();
    write(before);
    log(before, before);
    await patchTags(pty, "box.a", {}, [STATUS]);
    const after = { role: "agent", "strategy.consecutive-fast-fails": "3" };
    expect([inRecord(), await seen()]).toEqual([after, after]);
  });

  test("that says only a moment later what it did is waited for", async () => {
    const { path, before, parkedTags, write, log, seen } = await parked();
    write(before);
    // A busy machine has some more time for what follows.
    const soon = Date.now() / 1000 + 0.2;
    utimesSync(path, soon, soon);
    const tags = seen();
    log(before, before);
    expect(await tags).toEqual(parkedTags);
  });

  test("that took a tag away knowingly has its way, and convoy's next change does not bring it back", async () => {
    const { pty, parkedTags, write, log, seen, inRecord, inLedger } = await parked();
    const { [STATUS]: _, ...cleared } = parkedTags;
    write(cleared);
    log(parkedTags, cleared);
    expect(await seen()).toEqual(cleared);
    await patchTags(pty, "box.a", { "strategy.consecutive-fast-fails": "4" }, []);
    const after = { ...cleared, "strategy.consecutive-fast-fails": "4" };
    expect([inRecord(), inLedger(), await seen()]).toEqual(Array(3).fill(after));
    // Another writer's change since, which carries over what it found.
    write({ ...after, color: "red" });
    log(after, { ...after, color: "red" });
    expect(await seen()).toEqual({ ...after, color: "red" });
  });

  test("a change that no event tells of stands: somebody edited the file", async () => {
    const { write, seen } = await parked();
    write({ role: "agent" });
    expect(await seen()).toEqual({ role: "agent" });
  });
});

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { ledgerFixture, recordFixture } from "../../test/fakes/ledgers.ts";
import { cleanUp, freshNetwork } from "../../test/fakes/network.ts";
import { sessionPaths } from "../system/paths.ts";
import { changeLedger, readLedger } from "./changes.ts";
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

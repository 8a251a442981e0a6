import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ledgerFixture } from "../test/fakes/ledgers.ts";
import { differInOwnTags, findLostTags, type TagsChange } from "./lost-tags.ts";
import { patchTags, type Tags } from "./tags.ts";

const STATUS = "strategy.status";
const COUNT = "strategy.consecutive-fast-fails";
const BEFORE = "2026-11-30T10:00:00.000Z";
const AT = "2026-11-30T10:00:01.000Z";
const AFTER = "2026-11-30T10:00:02.000Z";

const ledgerWith = (tags: Tags, tagsAt: string | null = AT) => ({ ...ledgerFixture("a"), tags, tagsAt });
const change = (previous: Tags, value: Tags, ts = AFTER): TagsChange => ({ ts, previous, value });
const parked = { role: "agent", [STATUS]: "flapping", [COUNT]: "3" };
const running = { role: "agent", [COUNT]: "2" };
const nothing = { set: {}, remove: [] };

const withoutColor = ({ color: _, ...tags }: Tags) => tags;

test.each<[string, Tags, Tags, TagsChange[], object, string[]]>([
  ["nothing differs", parked, parked, [change({}, {})], nothing, []],
  ["tags of others differ", parked, { ...parked, color: "red" }, [], nothing, []],
  [
    "convoy parked it, a writer that had read it before wrote it back",
    parked,
    { ...running, color: "red" },
    [change(running, { ...running, color: "red" })],
    { set: { [STATUS]: "flapping", [COUNT]: "3" }, remove: [] },
    [],
  ],
  [
    "convoy un-parked it, a writer that had read it before wrote it back",
    { role: "agent" },
    { ...parked, color: "red" },
    [change(parked, { ...parked, color: "red" })],
    { set: {}, remove: [STATUS, COUNT] },
    [],
  ],
  [
    "a person took the status away",
    parked,
    { role: "agent", [COUNT]: "3" },
    [change(parked, { role: "agent", [COUNT]: "3" })],
    nothing,
    [],
  ],
  [
    "a person took the status away, as it was before convoy counted",
    parked,
    { role: "agent", [COUNT]: "2" },
    [change({ ...parked, [COUNT]: "2" }, { role: "agent", [COUNT]: "2" })],
    { set: { [COUNT]: "3" }, remove: [] },
    [],
  ],
  [
    "a person took the status away, and somebody else tagged it since",
    parked,
    { role: "agent", [COUNT]: "3", color: "red" },
    [
      change(parked, { role: "agent", [COUNT]: "3" }),
      change({ role: "agent", [COUNT]: "3" }, { role: "agent", [COUNT]: "3", color: "red" }),
    ],
    nothing,
    [],
  ],
  ["no event says why", parked, running, [], nothing, [STATUS, COUNT]],
  [
    "an event of before convoy's change",
    parked,
    running,
    [change({}, running, BEFORE)],
    nothing,
    [STATUS, COUNT],
  ],
  [
    "an event that wrote something else",
    parked,
    running,
    [change({}, { ...parked, [COUNT]: "7" })],
    nothing,
    [STATUS, COUNT],
  ],
  [
    "a tag of the launch, carried over from before it",
    { role: "agent" },
    {},
    [change({}, {})],
    { set: { role: "agent" }, remove: [] },
    [],
  ],
])("%s", (_, mine, now, changes, lost, unexplained) => {
  const found = findLostTags(ledgerWith(mine), now, changes);
  expect(found).toEqual({ lost, unexplained } as never);
  expect(differInOwnTags(ledgerWith(mine), now)).toBe(!Bun.deepEquals(withoutColor(mine), withoutColor(now)));
});

test("without a time of convoy's last change no event has a say", () => {
  const { lost, unexplained } = findLostTags(ledgerWith(parked, null), running, [change(running, running)]);
  expect({ lost, unexplained }).toEqual({ lost: nothing, unexplained: [STATUS, COUNT] });
});

describe("two writers in any order", () => {
  /** Convoy writes under its lock, all at once; the other reads, and writes later what it made of that. */
  const step = fc.oneof(
    fc.record({ by: fc.constant("convoy" as const), status: fc.boolean(), count: fc.nat(9) }),
    fc.record({ by: fc.constant("read" as const) }),
    fc.record({
      by: fc.constant("write" as const),
      act: fc.constantFrom("color", "unpark", "park"),
    }),
  );

  test("what convoy wrote last stands, but for what somebody meant to change after it", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let record: Tags = { role: "agent" };
        let ledger = ledgerWith(record, new Date(0).toISOString());
        let read: Tags | null = null;
        const changes: TagsChange[] = [];
        let expected: Tags = record;
        steps.forEach((each, index) => {
          const ts = new Date(1000 + index).toISOString();
          if (each.by === "convoy") {
            const set = { [COUNT]: String(each.count), ...(each.status ? { [STATUS]: "flapping" } : {}) };
            const remove = each.status ? [] : [STATUS];
            // As a pass does: what was lost first, then the change.
            const { lost } = findLostTags(ledger, record, changes);
            const healed = patchTags(record, lost.set, lost.remove);
            record = patchTags(healed, set, remove);
            expected = patchTags(expected, set, remove);
            ledger = ledgerWith({ ...record }, ts);
          } else if (each.by === "read") read = record;
          else if (read !== null) {
            const set = { color: { color: ts }, park: { [STATUS]: "flapping" }, unpark: {} }[
              each.act
            ] as Tags;
            const remove = each.act === "unpark" ? [STATUS] : [];
            const value = patchTags(read, set, remove);
            changes.push({ ts, previous: read, value });
            if (read[STATUS] !== value[STATUS]) expected = patchTags(expected, set, remove);
            record = value;
            read = null;
          }
        });
        const { lost, unexplained } = findLostTags(ledger, record, changes);
        const own = (tags: Tags) => [tags[STATUS], tags[COUNT], tags.role];
        expect(unexplained).toEqual([]);
        expect(own(patchTags(record, lost.set, lost.remove))).toEqual(own(expected));
      }),
      { numRuns: 5_000 },
    );
  });
});

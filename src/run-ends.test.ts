import { expect, test } from "bun:test";
import { ledgerFixture, recordFixture } from "../test/fakes/ledgers.ts";
import { sessionOf } from "../test/generators/declarations.ts";
import type { RunEnd } from "./ledger.ts";
import { describeRunEnd, lastRunEnd, runBefore } from "./run-ends.ts";

const at = "2026-11-30T11:00:00.000Z";
const end = (over: Partial<RunEnd> = {}): RunEnd => {
  return { exitCode: 3, exitedAt: at, lastLines: ["bye"], error: null, ...over };
};
const before = end({ exitCode: 1, lastLines: ["before"] });
const dead = { name: "box.a", status: "exited", process: "not-ours" } as const;

test("the ledger's end, and how the run before it ended", () => {
  const ledger = ledgerFixture("a", { end: end(), previous: [before] });
  const session = sessionOf({ ...dead, exitCode: 3, exitedAt: at, ledger });
  expect([lastRunEnd(session), runBefore(session, false), runBefore(session, true)]).toEqual([
    end(),
    end(),
    before,
  ]);
});

test("an end that only the record tells of", () => {
  const later = { exitCode: 9, exitedAt: "2026-11-30T12:00:00.000Z" };
  const record = recordFixture({ ...later, lastLines: ["later"] });
  const session = sessionOf({ ...dead, ...later, record, ledger: ledgerFixture("a", { end: end() }) });
  expect(lastRunEnd(session)).toEqual({ ...later, lastLines: ["later"], error: null });
});

test("a run that vanished, and none before", () => {
  const session = sessionOf({ ...dead, status: "vanished", record: recordFixture({ lastLines: ["old"] }) });
  expect(lastRunEnd(session)).toEqual({ exitCode: null, exitedAt: null, lastLines: [], error: null });
  expect(runBefore(session, true)).toBeNull();
});

test.each<[Partial<RunEnd>, string]>([
  [{}, "exit code 3"],
  [{ exitCode: 137 }, "exit code 137 (SIGKILL)"],
  [{ exitCode: null }, "killed with no exit code"],
  [{ exitCode: null, exitedAt: null }, "vanished (hard death — no exit record)"],
  [{ exitCode: null, error: "no terminal" }, "could not be started: no terminal"],
])("%j", (over, text) => {
  expect(describeRunEnd(end(over))).toBe(text);
});

import { expect, test } from "bun:test";
import { LAUNCHED_AT, ledgerFixture, recordFixture } from "../test/fakes/ledgers.ts";
import { sessionOf } from "../test/generators/declarations.ts";
import { RESTART_GAP_MS, restartGapMs } from "./foreign-restart.ts";
import type { Ledger } from "./ledger.ts";
import type { ObservedSession, SessionRecord } from "./session.ts";

const EXITED_AT = "2026-11-30T10:05:00.000Z";
const LATER = "2026-11-30T10:04:00.000Z";
const soon = new Date("2026-11-30T10:05:01.000Z");
const permanent = { strategy: "permanent" };

const ledger = (members: Partial<Ledger> = {}) => ledgerFixture("a", { tags: permanent, ...members });
const record = (members: Partial<SessionRecord> = {}) => recordFixture({ tags: permanent, ...members });
const told = { ledger: ledger({ terminated: true }), record: record() };
const pty = { ledger: null, record: record() };

test.each<[string, Partial<ObservedSession>, Date, number]>([
  ["an end that nobody asked for", { ledger: ledger(), record: record() }, soon, 0],
  ["its host was told to end", told, soon, RESTART_GAP_MS - 1_000],
  [
    "its host was told to end, and its record is gone",
    { ...told, record: null },
    soon,
    RESTART_GAP_MS - 1_000,
  ],
  ["its host was told to end, long ago", told, new Date("2026-11-30T10:05:03.000Z"), 0],
  ["the clock was set back since", told, new Date("2026-11-30T10:04:59.000Z"), 0],
  ["told by pty kill", { ...told, record: record({ tags: {} }) }, soon, 0],
  ["told as convoy asked", { ...told, ledger: ledger({ terminated: true, endedBy: "down" }) }, soon, 0],
  ["a run of pty's", pty, soon, RESTART_GAP_MS - 1_000],
  ["a run of pty's that nobody saw end", { ...pty, exitedAt: null }, soon, RESTART_GAP_MS],
  [
    "a run of pty's after one of convoy's",
    { ledger: ledger(), record: record({ createdAt: LATER }) },
    soon,
    RESTART_GAP_MS - 1_000,
  ],
  [
    "a run of pty's after one of convoy's, ended by pty kill",
    { ledger: ledger(), record: record({ createdAt: LATER, tags: {} }) },
    soon,
    0,
  ],
  ["no file but the ledger", { ledger: ledger(), record: null, exitedAt: null }, soon, 0],
])("%s", (_, members, now, expected) => {
  const dead = { status: "exited", process: "not-ours", processAlive: false, exitedAt: EXITED_AT } as const;
  expect(restartGapMs(sessionOf({ name: "box.a", ...dead, ...members }), now)).toBe(expected);
  expect(LAUNCHED_AT < LATER).toBe(true);
});

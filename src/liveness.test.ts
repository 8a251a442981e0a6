import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LAUNCHED_AT, ledgerFixture, recordFixture } from "../test/fakes/ledgers.ts";
import type { Ledger } from "./ledger.ts";
import { observeSession } from "./liveness.ts";
import type { Identification, SessionRecord } from "./session.ts";
import type { SessionFacts } from "./session-facts.ts";

const HOST = { pid: 10, start: "100" };
const CHILD = { pid: 11, start: "101" };
const LATER = "2026-11-30T10:05:00.000Z";
const BEFORE = "2026-11-30T09:00:00.000Z";
const END = { exitCode: 3, exitedAt: LATER, lastLines: [], error: null };

const ledger = (members: Partial<Ledger> = {}) =>
  ({ state: "read", value: ledgerFixture("a", { host: HOST, child: CHILD, ...members }) }) as const;
const record = (members: Partial<SessionRecord> = {}) =>
  ({ state: "read", value: recordFixture(members) }) as const;
const MISSING = { state: "missing" } as const;
const TORN = { state: "unusable" } as const;
const NOTHING_LOST = { set: {}, remove: [] };
const ANSWERED = { state: "answered", hostPid: 20, childPid: 21, convoy: false } as const;
const SILENT = { state: "silent" } as const;
const NO_STRAYS = { state: "searched", host: null, child: null, ptyHost: null, ptyChildPid: null } as const;
const PTY_HOST = { ...NO_STRAYS, ptyHost: { pid: 30, start: "300" } } as const;

function facts(members: Partial<SessionFacts>): SessionFacts {
  return {
    name: "box.a",
    record: record(),
    ledger: ledger(),
    pidFile: { state: "read", value: 10 },
    socketFile: true,
    socketReplaced: false,
    socket: { state: "not-probed" },
    host: "ours",
    child: "ours",
    sameBoot: true,
    namedHost: "exists",
    strays: { state: "not-searched" },
    launching: false,
    agent: "box.a",
    lostTags: NOTHING_LOST,
    ...members,
  };
}

/** Process, status, exit code; then what else is special about it. */
function summary(members: Partial<SessionFacts>): string {
  const seen = observeSession(facts(members));
  const special = [
    seen.orphaned === true ? "orphaned" : "",
    seen.starting === true ? "starting" : "",
    seen.outside === true ? "outside" : "",
    seen.pid === null ? "" : `host ${seen.pid}`,
    seen.childPid == null ? "" : `child ${seen.childPid}`,
    (seen.missing ?? []).length === 0 ? "" : `missing ${seen.missing?.join("+")}`,
  ];
  const exit = seen.exitCode === null ? "" : ` ${seen.exitCode}`;
  return [`${seen.process} ${seen.status}${exit}`, ...special.filter((word) => word !== "")].join(", ");
}

const dead = { host: "not-ours", child: "not-ours" } as const;
const launched = { ledger: ledger({ host: null, child: null }), host: null, child: null } as const;
const hostOnly = { ledger: ledger({ child: null }), child: null } as const;
const own = { ledger: MISSING, host: null, child: null } as const;
const tornLedger = { ledger: TORN, host: null, child: null } as const;

describe("a session with a ledger", () => {
  test.each<[string, Partial<SessionFacts>, string]>([
    ["host and child ours", {}, "ours running, host 10, child 11"],
    ["host ours, child dead: its end is being written", { child: "not-ours" }, "ours running, host 10"],
    ["host ours, child hidden", { child: "unknown" }, "ours running, host 10, child 11"],
    ["host dead, child ours", { host: "not-ours" }, "ours running, orphaned, child 11"],
    ["both dead, no exit seen", dead, "not-ours vanished"],
    [
      "both dead, exit in the record",
      { ...dead, record: record({ exitCode: 7, exitedAt: LATER }) },
      "not-ours exited 7",
    ],
    [
      "both dead, the record's exit is an earlier run's",
      { ...dead, record: record({ exitCode: 7, exitedAt: BEFORE }) },
      "not-ours vanished",
    ],
    ["both dead, exit without a time", { ...dead, record: record({ exitCode: 7 }) }, "not-ours exited 7"],
    ["both dead, record torn", { ...dead, record: TORN }, "not-ours vanished"],
    ["both dead, a stranger has the pid in .pid", { ...dead, namedHost: "exists" }, "not-ours vanished"],
    ["host hidden", { host: "unknown", child: "not-ours" }, "unknown vanished, host 10"],
    ["child hidden", { host: "not-ours", child: "unknown" }, "unknown vanished, child 11"],
    [
      "host hidden but it answers",
      { host: "unknown", socket: { ...ANSWERED, hostPid: 10 } },
      "ours running, host 10, child 11",
    ],
    [
      "host hidden, another answers",
      { host: "unknown", child: "not-ours", socket: ANSWERED },
      "unknown vanished, host 10",
    ],
    ["ended", { ...dead, ledger: ledger({ end: END }) }, "not-ours exited 3"],
    [
      "ended, its host still leaving",
      { child: "not-ours", ledger: ledger({ end: END }), socket: ANSWERED },
      "not-ours exited 3",
    ],
    [
      "ended, processes hidden",
      { host: "unknown", child: "unknown", ledger: ledger({ end: END }) },
      "not-ours exited 3",
    ],
    [
      "ended says the ledger, yet its child lives",
      { ledger: ledger({ end: END }) },
      "ours running, host 10, child 11",
    ],
    [
      "ended unseen",
      { ...dead, ledger: ledger({ end: { ...END, exitCode: null, exitedAt: null } }) },
      "not-ours vanished",
    ],
    [
      "never started",
      { ...dead, ledger: ledger({ end: { ...END, exitCode: null, exitedAt: null, error: "E2BIG" } }) },
      "not-ours exited",
    ],
    [
      "the ledger wins over the record",
      {
        ...dead,
        ledger: ledger({ end: { ...END, exitCode: 137 } }),
        record: record({ exitCode: 0, exitedAt: LATER }),
      },
      "not-ours exited 137",
    ],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

describe("a launch that was cut short", () => {
  test.each<[string, Partial<SessionFacts>, string]>([
    ["nothing found", { ...launched, strays: NO_STRAYS }, "not-ours vanished"],
    [
      "nothing found, the record still tells of the run before",
      {
        ...launched,
        strays: NO_STRAYS,
        record: record({ exitCode: 0, exitedAt: BEFORE, createdAt: BEFORE }),
      },
      "not-ours vanished",
    ],
    ["not searched", launched, "unknown vanished, host 10"],
    ["not to be searched", { ...launched, strays: { state: "cannot-tell" } }, "unknown vanished, host 10"],
    [
      "its launcher lives",
      { ...launched, strays: NO_STRAYS, launching: true },
      "unknown running, starting, host 10",
    ],
    ["another boot", { ...launched, sameBoot: false }, "not-ours vanished"],
    [
      "its host found",
      { ...launched, strays: { ...NO_STRAYS, host: HOST } },
      "ours running, starting, host 10",
    ],
    [
      "its program found",
      { ...launched, strays: { ...NO_STRAYS, child: CHILD } },
      "ours running, orphaned, child 11",
    ],
    [
      "failed",
      {
        ...launched,
        ledger: ledger({ host: null, child: null, end: { ...END, exitCode: null, error: "no" } }),
      },
      "not-ours exited",
    ],
    ["host lives, program not reported", hostOnly, "ours running, starting, host 10"],
    [
      "host dead before it reported, nothing found",
      { ...hostOnly, host: "not-ours", strays: NO_STRAYS },
      "not-ours vanished",
    ],
    [
      "host dead before it reported, not searched",
      { ...hostOnly, host: "not-ours" },
      "unknown vanished, host 10",
    ],
    [
      "host dead before it reported, its program found",
      { ...hostOnly, host: "not-ours", strays: { ...NO_STRAYS, child: CHILD } },
      "ours running, orphaned, child 11",
    ],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

describe("a session that another program started again after the ledger's run", () => {
  const over = { ...dead, ledger: ledger({ end: END }) } as const;
  const again = record({ createdAt: LATER });
  test.each<[string, Partial<SessionFacts>, string]>([
    ["it answers", { ...over, socket: ANSWERED }, "ours running, outside, host 20, child 21"],
    ["its host is just starting", { ...over, strays: PTY_HOST }, "ours running, starting, outside, host 30"],
    [
      "its host has lost its files",
      { ...over, record: MISSING, strays: { ...PTY_HOST, ptyChildPid: 31 } },
      "ours running, outside, host 30, child 31",
    ],
    [
      "something silent there is its host",
      { ...over, socket: SILENT, strays: PTY_HOST },
      "ours running, starting, outside, host 30",
    ],
    ["something is silent there", { ...over, socket: SILENT }, "unknown vanished, host 10"],
    ["nobody listens on the old socket", { ...over, socket: { state: "absent" } }, "not-ours exited 3"],
    ["a newer record whose host exists", { ...over, record: again }, "unknown vanished, host 10"],
    ["a newer record whose host is gone", { ...over, record: again, namedHost: "gone" }, "not-ours vanished"],
    [
      "a newer record that names no host",
      { ...over, record: again, namedHost: "none" },
      "unknown vanished, host 10",
    ],
    [
      "a newer record with an exit",
      { ...over, record: record({ createdAt: LATER, exitCode: 0, exitedAt: LATER }) },
      "not-ours exited 0",
    ],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

describe("a session without a ledger", () => {
  const exit = record({ exitCode: 0, exitedAt: LATER });
  test.each<[string, Partial<SessionFacts>, string]>([
    ["answers", { ...own, socket: ANSWERED }, "ours running, outside, host 20, child 21"],
    [
      "answers after its exit",
      { ...own, record: exit, socket: ANSWERED },
      "ours running, outside, host 20, child 21",
    ],
    [
      "a host of convoy answers, its record is gone",
      {
        ...own,
        record: MISSING,
        socket: { ...ANSWERED, convoy: true },
        pidFile: { state: "read", value: 20 },
      },
      "ours running, host 20, child 21, missing record",
    ],
    [
      "its host is found, the record tells of an earlier end",
      { ...own, record: exit, socketFile: false, strays: { ...NO_STRAYS, host: HOST, child: CHILD } },
      "ours running, host 10, child 11, missing socket",
    ],
    [
      "pty's host is found, nobody listens",
      { ...own, socket: { state: "absent" }, strays: { ...PTY_HOST, ptyChildPid: 31 } },
      "ours running, outside, host 30, child 31",
    ],
    [
      "an earlier run left a program",
      { ...own, record: exit, strays: { ...NO_STRAYS, child: CHILD } },
      "not-ours exited 0",
    ],
    ["exit in the record", { ...own, record: exit }, "not-ours exited 0"],
    ["its host is gone", { ...own, namedHost: "gone" }, "not-ours vanished"],
    [
      "its host is gone, the socket is silent",
      { ...own, namedHost: "gone", socket: SILENT },
      "unknown vanished, host 10",
    ],
    ["its pid exists, nobody listens", { ...own, socket: { state: "absent" } }, "unknown vanished, host 10"],
    ["names no host", { ...own, pidFile: MISSING, namedHost: "none" }, "unknown vanished"],
    ["a torn record", { ...own, record: TORN, namedHost: "gone" }, "not-ours vanished"],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

describe("a session without any file", () => {
  const gone = { ...own, record: MISSING, pidFile: MISSING, socketFile: false, namedHost: "none" } as const;
  test.each<[string, Partial<SessionFacts>, string]>([
    [
      "whose host runs",
      { ...gone, strays: { ...NO_STRAYS, host: HOST, child: CHILD } },
      "ours running, host 10, child 11, missing record+socket+pid",
    ],
    [
      "that pty's program is starting",
      { ...gone, strays: PTY_HOST },
      "ours running, starting, outside, host 30",
    ],
    [
      "of which a program runs",
      { ...gone, strays: { ...NO_STRAYS, child: CHILD } },
      "unknown vanished, child 11",
    ],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

describe("a session whose ledger cannot be used", () => {
  const exit = record({ exitCode: 0, exitedAt: LATER });
  test.each<[string, Partial<SessionFacts>, string]>([
    ["not searched, exit in the record", { ...tornLedger, record: exit }, "unknown exited, host 10"],
    ["searched, exit in the record", { ...tornLedger, record: exit, strays: NO_STRAYS }, "not-ours exited 0"],
    [
      "host found",
      { ...tornLedger, strays: { ...NO_STRAYS, host: HOST }, pidFile: MISSING },
      "ours running, host 10, missing pid",
    ],
    [
      "program found",
      { ...tornLedger, strays: { ...NO_STRAYS, child: CHILD } },
      "ours running, orphaned, child 11",
    ],
    ["searched, its pid exists", { ...tornLedger, strays: NO_STRAYS }, "unknown vanished, host 10"],
    [
      "searched, older than the boot",
      { ...tornLedger, strays: NO_STRAYS, sameBoot: false },
      "not-ours vanished",
    ],
    [
      "it answers",
      { ...tornLedger, strays: NO_STRAYS, socket: ANSWERED, pidFile: { state: "read", value: 20 } },
      "ours running, outside, host 20, child 21",
    ],
  ])("%s", (_, members, expected) => {
    expect(summary(members)).toBe(expected);
  });
});

test("a living session names the files that it lost", () => {
  const lost = { record: TORN, socketFile: false, pidFile: { state: "read", value: 99 } } as const;
  expect(summary(lost)).toBe("ours running, host 10, child 11, missing record+socket+pid");
  expect(summary({ ...lost, ...dead })).toBe("not-ours vanished");
  expect(summary({ socketReplaced: true })).toBe("ours running, host 10, child 11, missing socket");
});

test("the whole of an observed session: the record stands before the ledger, the ledger stands in for it", () => {
  const seen = observeSession(facts({ record: record({ tags: { x: "1" }, command: "bash" }) }));
  expect(seen).toEqual({
    name: "box.a",
    status: "running",
    process: "ours",
    processAlive: true,
    pid: 10,
    exitCode: null,
    exitedAt: null,
    tags: { x: "1" },
    lostTags: NOTHING_LOST,
    command: "bash",
    args: ["-c", "exec sleep 1"],
    cwd: "/",
    createdAt: LAUNCHED_AT,
    host: "ours",
    child: "ours",
    childPid: 11,
    orphaned: false,
    starting: false,
    outside: false,
    ledger: ledger().value,
    record: record({ tags: { x: "1" }, command: "bash" }).value,
    agent: "box.a",
    missing: [],
  });
  const lostTags = { set: { "strategy.status": "flapping" }, remove: ["y"] };
  const undone = facts({ record: record({ tags: { x: "1", y: "2" } }), lostTags });
  expect(observeSession(undone).tags).toEqual({ x: "1", "strategy.status": "flapping" });
  const without = observeSession(facts({ record: MISSING }));
  expect([without.tags, without.command, without.createdAt]).toEqual([{ role: "agent" }, "sh", LAUNCHED_AT]);
});

const anyIdentification = fc.constantFrom<Identification | null>("ours", "not-ours", "unknown", null);
const anyRecord = fc.constantFrom<SessionFacts["record"]>(
  record(),
  record({ exitCode: 0, exitedAt: LATER }),
  record({ exitCode: 0, exitedAt: BEFORE }),
  record({ createdAt: LATER }),
  MISSING,
  TORN,
);
const anyFacts: fc.Arbitrary<SessionFacts> = fc
  .record({
    record: anyRecord,
    kind: fc.constantFrom("read", "read", "missing", "unusable"),
    ended: fc.boolean(),
    host: anyIdentification,
    child: anyIdentification,
    pidFile: fc.constantFrom<SessionFacts["pidFile"]>({ state: "read", value: 10 }, MISSING, TORN),
    socketFile: fc.boolean(),
    socket: fc.constantFrom<SessionFacts["socket"]>(
      ANSWERED,
      SILENT,
      { state: "absent" },
      { state: "not-probed" },
    ),
    sameBoot: fc.boolean(),
    namedHost: fc.constantFrom<SessionFacts["namedHost"]>("exists", "gone", "none"),
    strays: fc.constantFrom<SessionFacts["strays"]>(
      NO_STRAYS,
      { ...NO_STRAYS, host: HOST },
      { ...NO_STRAYS, child: CHILD },
      PTY_HOST,
      { state: "cannot-tell" },
      { state: "not-searched" },
    ),
    launching: fc.boolean(),
  })
  .map(({ kind, ended, host, child, ...rest }) => {
    const named = { host: host && HOST, child: child && CHILD, end: ended ? END : null };
    if (kind === "read") return facts({ ...rest, ledger: ledger(named), host, child });
    return facts({ ...rest, ledger: { state: kind as "missing" | "unusable" }, host: null, child: null });
  });

/** The rule of the disk layout, written a second time and more bluntly than the code. */
function isProvenDead(seen: SessionFacts): boolean {
  if (seen.ledger.state === "read") {
    const { end, host, child } = seen.ledger.value;
    if (end !== null) return true;
    const gone = (named: object | null, found: Identification | null) =>
      named === null || found === "not-ours";
    const searched = child !== null || !seen.sameBoot || seen.strays.state === "searched";
    return gone(host, seen.host) && gone(child, seen.child) && searched;
  }
  if (seen.ledger.state === "unusable" && seen.strays.state !== "searched") return false;
  const exit = seen.record.state === "read" && seen.record.value.exitedAt !== undefined;
  return exit || seen.namedHost === "gone" || (seen.ledger.state === "unusable" && !seen.sameBoot);
}

describe("whatever the facts", () => {
  test("no session is dead unless it is proven, or while any process of it is known to live", () => {
    fc.assert(
      fc.property(anyFacts, (seen) => {
        const observed = observeSession(seen);
        if (observed.process === "not-ours") {
          expect(isProvenDead(seen)).toBe(true);
          expect(seen.child).not.toBe("ours");
          if (seen.strays.state === "searched") expect(seen.strays.ptyHost).toBeNull();
          if (seen.ledger.state === "read" && seen.ledger.value.end === null)
            expect(seen.host).not.toBe("ours");
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test("what is said agrees with itself", () => {
    fc.assert(
      fc.property(anyFacts, (seen) => {
        const { process, processAlive, status, exitCode, orphaned, outside, pid, missing, host, child } =
          observeSession(seen);
        expect(processAlive).toBe(process !== "not-ours");
        if (process === "ours") expect(status).toBe("running");
        if (process === "not-ours")
          expect([status === "running", pid, child]).toEqual([false, null, "not-ours"]);
        if (processAlive || status === "vanished") expect(exitCode).toBeNull();
        if (orphaned === true) expect([host, child]).toEqual(["not-ours", "ours"]);
        if ((missing ?? []).length > 0) expect([process, host, outside]).toEqual(["ours", "ours", false]);
      }),
      { numRuns: 5_000 },
    );
  });
});

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { declarationOf, entries, sessionOf, sessionsFor } from "../test/generators/declarations.ts";
import { afterwards, type Scene, worldOf } from "../test/generators/worlds.ts";
import { decide } from "./decide.ts";
import type { Ledger, RunEnd } from "./ledger.ts";
import type { ObservedSession } from "./session.ts";
import type { Decision } from "./world.ts";

/** Thousands of random worlds take their time on a busy machine. */
setDefaultTimeout(60_000);

const T0 = "2026-11-30T10:00:00.000Z";

function rowsOf(decision: Decision) {
  return Object.fromEntries(
    decision.agents.map(({ row }) => [row.identity, `${row.disposition}/${row.blocked ?? "-"}`]),
  );
}

function launchedBy(decision: Decision) {
  return decision.launches.map(({ kind, spec }) => `${kind} ${spec.name}`);
}

/** Scenes with one agent `a`, and what its row and the launches are. */
describe("one agent", () => {
  const a = declarationOf({ identity: "a" });
  const scene = (over: Partial<Scene>): Scene => ({ declarations: [a], sessions: [], ...over });
  const alive = (over: Partial<ObservedSession> = {}) =>
    sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" }, ...over });
  const dead = (over: Partial<ObservedSession> = {}) =>
    alive({ status: "exited", process: "not-ours", processAlive: false, exitCode: 1, exitedAt: T0, ...over });
  const end: RunEnd = { exitCode: 1, exitedAt: T0, lastLines: [], error: null };
  const flapping = { role: "agent", "strategy.status": "flapping", "strategy.consecutive-fast-fails": "3" };
  const ledgered = (session: ObservedSession, over: Partial<Ledger>): Scene =>
    scene({ sessions: [session], ledger: over });

  const table: [string, Scene, string, string[]][] = [
    ["first launch", scene({}), "launch/-", ["launch box.a"]],
    ["alive", scene({ sessions: [alive()] }), "adopt/-", []],
    ["alive under another name", scene({ sessions: [alive({ name: "old.a" })] }), "adopt/-", []],
    ["cannot tell", scene({ sessions: [alive({ process: "unknown" })] }), "adopt/unknown", []],
    ["died", scene({ sessions: [dead()] }), "launch/-", ["respawn box.a"]],
    ["parked", scene({ sessions: [dead({ tags: flapping })] }), "launch/parked", []],
    ["held", scene({ sessions: [dead()], held: ["box.a"] }), "launch/held", []],
    [
      "waits for its workspace",
      scene({ lacking: { "box.a": { workspace: "/w", binary: null } } }),
      "launch/waiting",
      [],
    ],
    [
      "parked comes before waiting",
      scene({
        sessions: [dead({ tags: flapping })],
        lacking: { "box.a": { workspace: "/w", binary: null } },
      }),
      "launch/parked",
      [],
    ],
    [
      "ended by restart",
      ledgered(dead({ tags: flapping }), { endedBy: "restart", end }),
      "launch/parked",
      [],
    ],
    [
      "ended by down, no longer held",
      ledgered(dead(), { endedBy: "down", end }),
      "launch/-",
      ["launch box.a"],
    ],
    [
      "an interrupted launch",
      ledgered(dead({ status: "vanished", exitCode: null, exitedAt: null }), { host: null, end: null }),
      "launch/-",
      ["launch box.a"],
    ],
    ["another boot", ledgered(dead(), { boot: "before", end }), "launch/-", ["launch box.a"]],
    [
      "failed launch, timer",
      { ...ledgered(dead(), { failedLaunch: true, end }), trigger: "timer" },
      "launch/-",
      ["launch box.a"],
    ],
    [
      "failed launch, event",
      { ...ledgered(dead(), { failedLaunch: true, end }), trigger: "event" },
      "launch/waiting",
      [],
    ],
    [
      "batch done",
      scene({
        declarations: [declarationOf({ identity: "a", strategy: "batch" })],
        sessions: [dead({ exitCode: 0 })],
      }),
      "adopt/done",
      [],
    ],
    [
      "batch failed",
      scene({ declarations: [declarationOf({ identity: "a", strategy: "batch" })], sessions: [dead()] }),
      "launch/-",
      ["respawn box.a"],
    ],
    [
      "two files, never ran",
      scene({ declarations: [a, declarationOf({ identity: "a", retired: true })] }),
      "launch/conflict",
      [],
    ],
    [
      "two files, ran and died",
      { ...ledgered(dead(), { end }), declarations: [a, a] },
      "launch/-",
      ["respawn box.a"],
    ],
    ["two files, alive", { ...ledgered(alive(), {}), declarations: [a, a] }, "adopt/conflict", []],
    ["its file is gone", { ...ledgered(dead(), { end }), declarations: [] }, "launch/-", ["respawn box.a"]],
    [
      "retired, running",
      scene({ declarations: [declarationOf({ identity: "a", retired: true })], sessions: [alive()] }),
      "teardown/-",
      [],
    ],
    [
      "retired, cannot tell",
      scene({
        declarations: [declarationOf({ identity: "a", retired: true })],
        sessions: [alive({ process: "unknown" })],
      }),
      "teardown/unknown",
      [],
    ],
  ];
  test.each(table)("%s", (_, given, row, launched) => {
    const decision = decide(worldOf(given));
    expect({ row: rowsOf(decision).a, launched: launchedBy(decision) }).toEqual({ row, launched });
  });

  test("ended by down, its file gone: nothing replays it", () => {
    const decision = decide(worldOf({ ...ledgered(dead(), { endedBy: "down", end }), declarations: [] }));
    expect({ rows: rowsOf(decision), launched: launchedBy(decision) }).toEqual({ rows: {}, launched: [] });
  });

  test("the third fast failure parks it, with the whole patch", () => {
    const tags = {
      role: "agent",
      keep: "x",
      "strategy.consecutive-fast-fails": "2",
      "strategy.last-respawn-at": T0,
    };
    const decision = decide(
      worldOf(scene({ sessions: [dead({ tags, exitedAt: "2026-11-30T10:00:05.000Z" })] })),
    );
    expect(
      decision.parks.map(({ session, set, remove, counter }) => ({
        session,
        status: set["strategy.status"],
        count: set["strategy.consecutive-fast-fails"],
        remove,
        counter,
      })),
    ).toEqual([{ session: "box.a", status: "flapping", count: "3", remove: [], counter: 3 }]);
    expect(decision.launches).toEqual([]);
  });

  test("a death is told once per end", () => {
    const before = worldOf(ledgered(dead(), { end, reportedEnd: null }));
    const told = worldOf(ledgered(dead(), { end, reportedEnd: "L1" }));
    expect([decide(before).deaths.length, decide(told).deaths.length]).toEqual([1, 0]);
  });

  test("a dead sidecar is restored alone; without st it is left out and said", () => {
    const withDing = declarationOf({ identity: "a", transport: "ding" });
    const given = { declarations: [withDing], sessions: [alive()] };
    expect(launchedBy(decide(worldOf(given)))).toEqual(["heal box.a.ding"]);
    const lacking = { "box.a.ding": { workspace: null, binary: { name: "st", path: "/bin" } } };
    const without = decide(worldOf({ ...given, lacking }));
    expect({ launched: launchedBy(without), without: without.withoutSidecar }).toEqual({
      launched: [],
      without: ["box.a"],
    });
  });

  test("a supervisor is launched before the agents that name it, main tasks before the others", () => {
    const declarations = [
      declarationOf({ identity: "a", supervisor: "m", transport: "ding" }),
      declarationOf({ identity: "m", supervisor: "z" }),
      declarationOf({ identity: "z" }),
    ];
    const decision = decide(worldOf({ declarations, sessions: [] }));
    expect(launchedBy(decision)).toEqual([
      "launch box.z",
      "launch box.m",
      "launch box.a",
      "launch box.a.ding",
    ]);
  });

  test("a living session that lost a file is nudged, a starting one is not", () => {
    const lost = { missing: ["socket"] as const, host: "ours" as const };
    const one = decide(worldOf(ledgered(alive(lost), {})));
    const two = decide(worldOf(ledgered(alive({ ...lost, starting: true }), {})));
    expect([one.nudges.map(({ name }) => name), two.nudges]).toEqual([["box.a"], []]);
  });
});

describe("over random worlds", () => {
  const scenes: fc.Arbitrary<Scene> = entries.chain((declared) =>
    fc.record({
      declarations: fc.constant(declared.map(({ declaration }) => declaration)),
      sessions: sessionsFor(declared),
      held: fc.subarray(["box.a", "box.b"]),
      ledger: fc.constantFrom(
        undefined,
        {},
        { endedBy: "down" as const },
        { boot: "before" },
        { failedLaunch: true },
      ),
      trigger: fc.constantFrom("timer" as const, "event" as const),
    }),
  );
  const runs = 3_000;

  test("one row per agent; blocked, retired, foreign, living and unknown agents are not launched", () => {
    const shares = new Map<string, number>();
    fc.assert(
      fc.property(scenes, (given) => {
        const world = worldOf(given);
        const decision = decide(world);
        const rows = new Map(decision.agents.map(({ row }) => [row.busId, row]));
        expect(rows.size).toBe(decision.agents.length);
        for (const { row } of decision.agents) {
          const key = `${row.disposition}/${row.blocked ?? "-"}`;
          shares.set(key, (shares.get(key) ?? 0) + 1);
        }
        for (const { busId, spec } of decision.launches) {
          const row = rows.get(busId);
          expect(row?.blocked).toBeNull();
          expect(["launch", "adopt"]).toContain(row?.disposition ?? "");
          expect(world.holds[busId]).toBeUndefined();
          const there = world.sessions.find((session) => session.name === spec.name);
          expect(there?.processAlive ?? false).toBe(false);
        }
        for (const { sessions } of decision.teardowns)
          for (const session of sessions) expect(session.process).not.toBe("unknown");
      }),
      { numRuns: runs },
    );
    const total = [...shares.values()].reduce((a, b) => a + b, 0);
    console.log(
      [...shares]
        .sort()
        .map(([key, count]) => `${key} ${((100 * count) / total).toFixed(1)} %`)
        .join(", "),
    );
  });

  test("a second pass over the world that the first promised does nothing", () => {
    fc.assert(
      fc.property(scenes, (given) => {
        const world = worldOf(given);
        const again = decide(afterwards(given, world, decide(world)));
        expect({
          launches: launchedBy(again),
          parks: again.parks,
          teardowns: again.teardowns,
          deaths: again.deaths.map(({ session }) => session.name),
          nudges: again.nudges,
          updates: again.updates,
        }).toEqual({ launches: [], parks: [], teardowns: [], deaths: [], nudges: [], updates: [] });
      }),
      { numRuns: runs },
    );
  });

  test("the order of sessions and files does not matter", () => {
    fc.assert(
      fc.property(scenes, (given) => {
        const world = worldOf(given);
        const turned = { ...world, sessions: world.sessions.toReversed() };
        const summary = (decision: Decision) => ({
          rows: rowsOf(decision),
          launches: launchedBy(decision),
          deaths: new Set(decision.deaths.map(({ session }) => session.name)),
        });
        expect(summary(decide(turned))).toEqual(summary(decide(world)));
      }),
      { numRuns: 500 },
    );
  });
});

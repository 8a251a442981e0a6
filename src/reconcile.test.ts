import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { declarationOf, scene, sessionOf, THIS_HOST } from "../test/generators/declarations.ts";
import type { CatalogEntry } from "./declaration.ts";
import {
  agentBusId,
  type Disposition,
  dispositionOf,
  isMainSession,
  liveOf,
  type ReconcilePlan,
  reconcilePlan,
} from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";

/** Thousands of random scenes take their time on a busy machine. */
setDefaultTimeout(60_000);

const busIdOf = (session: ObservedSession) => session.agent ?? null;
const plan = (entries: readonly CatalogEntry[], sessions: readonly ObservedSession[]) =>
  reconcilePlan(entries, sessions, THIS_HOST, busIdOf);
const entry = (over: Parameters<typeof declarationOf>[0]): CatalogEntry => {
  return { declaration: declarationOf(over), path: `${over.identity}.toml` };
};

function bucketsOf(found: ReconcilePlan, wanted: CatalogEntry): Disposition[] {
  const buckets: Disposition[] = [];
  if (found.launch.includes(wanted)) buckets.push("launch");
  if (found.otherHost.includes(wanted)) buckets.push("otherHost");
  if (found.adopt.some(({ entry }) => entry === wanted)) buckets.push("adopt");
  if (found.teardown.some(({ entry }) => entry === wanted)) buckets.push("teardown");
  return buckets;
}

describe("one agent", () => {
  const running = sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" } });
  const dead = sessionOf({
    ...running,
    status: "exited",
    process: "not-ours",
    processAlive: false,
    exitCode: 1,
  });
  const goneButAlive = sessionOf({ ...running, status: "vanished", process: "ours" });
  const ding = sessionOf({ name: "box.a.ding", agent: "box.a", tags: { role: "ding" } });
  const task = sessionOf({ name: "box.a.web", agent: "box.a", tags: { "convoy.task": "web" } });
  const empty = { launch: [], teardown: [], adopt: [], otherHost: [] };
  const a = entry({ identity: "a" });
  const retired = entry({ identity: "a", retired: true });
  const batch = entry({ identity: "a", strategy: "batch" });
  const away = entry({ identity: "a", host: "shed" });
  const done = { ...dead, exitCode: 0 };

  const table: [string, CatalogEntry, ObservedSession[], ReconcilePlan][] = [
    ["nothing runs", a, [], { ...empty, launch: [a] }],
    ["it runs", a, [running], { ...empty, adopt: [{ entry: a, sessions: [running] }] }],
    ["it died", a, [dead], { ...empty, launch: [a] }],
    [
      "reported gone, alive",
      a,
      [goneButAlive],
      { ...empty, adopt: [{ entry: a, sessions: [goneButAlive] }] },
    ],
    ["only its sidecar lives", a, [ding, dead], { ...empty, launch: [a] }],
    ["only another task lives", a, [task], { ...empty, launch: [a] }],
    [
      "it and its sidecar live",
      a,
      [ding, running],
      { ...empty, adopt: [{ entry: a, sessions: [running, ding] }] },
    ],
    [
      "retired, running",
      retired,
      [running, ding, dead],
      { ...empty, teardown: [{ entry: retired, sessions: [running, ding] }] },
    ],
    ["retired, nothing live", retired, [dead], empty],
    ["batch, finished", batch, [done], { ...empty, adopt: [{ entry: batch, sessions: [] }] }],
    ["batch, failed", batch, [dead], { ...empty, launch: [batch] }],
    ["another host's", away, [running], { ...empty, otherHost: [away] }],
  ];
  test.each(table)("%s", (_, wanted, sessions, expected) => {
    expect(plan([wanted], sessions)).toEqual(expected);
  });

  test("a capitalised host with a domain is this machine all the same", () => {
    expect(agentBusId(declarationOf({ identity: "a", host: "Box.example.com" }), "BOX")).toBe("box.a");
  });
});

describe("over random catalogs and sessions", () => {
  const runs = 3_000;

  test("every declaration has exactly one disposition, and the buckets agree", () => {
    const shares: Record<Disposition, number> = { launch: 0, teardown: 0, adopt: 0, otherHost: 0 };
    let matching = 0;
    let total = 0;
    fc.assert(
      fc.property(scene, ({ entries, sessions }) => {
        const found = plan(entries, sessions);
        const busIds = new Set(entries.map(({ declaration }) => agentBusId(declaration, THIS_HOST)));
        total += sessions.length;
        matching += sessions.filter((session) => busIds.has(busIdOf(session) ?? "")).length;
        for (const wanted of entries) {
          const disposition = dispositionOf(wanted, sessions, THIS_HOST, busIdOf);
          shares[disposition] += 1;
          const buckets = bucketsOf(found, wanted);
          const quiet = disposition === "teardown" && buckets.length === 0;
          expect(buckets).toEqual(quiet ? [] : [disposition]);
          if (quiet) expect(ownLive(wanted, sessions)).toEqual([]);
        }
      }),
      { numRuns: runs },
    );
    const sum = Object.values(shares).reduce((a, b) => a + b, 0);
    const percent = Object.entries(shares).map(
      ([name, count]) => `${name} ${((100 * count) / sum).toFixed(1)} %`,
    );
    console.log(
      `dispositions over ${sum} declarations: ${percent.join(", ")}; sessions that match: ${((100 * matching) / total).toFixed(1)} %`,
    );
    for (const count of Object.values(shares)) expect(count / sum).toBeGreaterThan(0.05);
    expect(matching / total).toBeGreaterThan(1 / 3);
  });

  test("nothing is launched that is retired, another host's, alive or unknown; nothing torn down that is not retired", () => {
    fc.assert(
      fc.property(scene, ({ entries, sessions }) => {
        const found = plan(entries, sessions);
        for (const wanted of found.launch) {
          expect(wanted.declaration.retired).toBe(false);
          expect([null, THIS_HOST]).toContain(wanted.declaration.host);
          expect(ownLive(wanted, sessions).filter(isMainSession)).toEqual([]);
        }
        for (const { entry: torn, sessions: ending } of found.teardown) {
          expect(torn.declaration.retired).toBe(true);
          expect(new Set(ending)).toEqual(new Set(ownLive(torn, sessions)));
        }
      }),
      { numRuns: runs },
    );
  });

  test("a second pass over the world that the first promised does nothing", () => {
    fc.assert(
      fc.property(scene, ({ entries, sessions }) => {
        const first = plan(entries, sessions);
        const ended = new Set(first.teardown.flatMap(({ sessions: ending }) => ending));
        const after = sessions.map((session) =>
          ended.has(session)
            ? { ...session, status: "exited" as const, process: "not-ours" as const, processAlive: false }
            : session,
        );
        const started = first.launch.map(({ declaration }, index) =>
          sessionOf({
            name: `new${index}`,
            agent: agentBusId(declaration, THIS_HOST),
            tags: { role: "agent" },
          }),
        );
        const second = plan(unambiguous(entries), [...after, ...unambiguousSessions(entries, started)]);
        expect({ launch: second.launch, teardown: second.teardown }).toEqual({ launch: [], teardown: [] });
      }),
      { numRuns: runs },
    );
  });

  test("the order of the inputs does not matter", () => {
    const shuffled = scene.chain(({ entries, sessions }) =>
      fc.record({
        entries: fc.constant(entries),
        sessions: fc.constant(sessions),
        otherEntries: fc.shuffledSubarray(entries, { minLength: entries.length }),
        otherSessions: fc.shuffledSubarray(sessions, { minLength: sessions.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ entries, sessions, otherEntries, otherSessions }) => {
        expect(plan(otherEntries, otherSessions)).toEqual(plan(entries, sessions));
      }),
      { numRuns: runs },
    );
  });
});

function ownLive(wanted: CatalogEntry, sessions: readonly ObservedSession[]): ObservedSession[] {
  const busId = agentBusId(wanted.declaration, THIS_HOST);
  return liveOf(sessions.filter((session) => busIdOf(session) === busId));
}

/** Agents that only one file declares: a retired and an active file for one agent are frozen before planning. */
function unambiguous(entries: readonly CatalogEntry[]): CatalogEntry[] {
  const count = countBusIds(entries);
  return entries.filter(({ declaration }) => count.get(agentBusId(declaration, THIS_HOST)) === 1);
}

function unambiguousSessions(entries: readonly CatalogEntry[], started: readonly ObservedSession[]) {
  const count = countBusIds(entries);
  return started.filter((session) => count.get(busIdOf(session) ?? "") === 1);
}

function countBusIds(entries: readonly CatalogEntry[]): Map<string, number> {
  const count = new Map<string, number>();
  for (const { declaration } of entries) {
    const busId = agentBusId(declaration, THIS_HOST);
    count.set(busId, (count.get(busId) ?? 0) + 1);
  }
  return count;
}

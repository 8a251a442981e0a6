import { expect, test } from "bun:test";
import fc from "fast-check";
import { ledgerFixture, recordFixture } from "../test/fakes/ledgers.ts";
import { declarationOf, scene, sessionOf } from "../test/generators/declarations.ts";
import { type Scene, worldOf } from "../test/generators/worlds.ts";
import { type AgentRow, listDocument } from "./agent-state.ts";
import { decide } from "./decide.ts";
import type { Declaration } from "./declaration.ts";
import type { Ledger } from "./ledger.ts";
import type { ObservedSession } from "./session.ts";

function list(given: Scene) {
  const world = worldOf(given);
  return listDocument(world, decide(world), null);
}

const declared = (over: Partial<Declaration> = {}) => declarationOf({ identity: "a", ...over });
const main = (over: Partial<ObservedSession> = {}) =>
  sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" }, ...over });
const dead = { process: "not-ours", processAlive: false, pid: null } as const;
const exited = (exitCode: number | null, over: Partial<ObservedSession> = {}) =>
  main({ ...dead, status: "exited", exitCode, exitedAt: "2026-11-30T11:00:00.000Z", ...over });

const one = (session: ObservedSession | null, over: Partial<Scene> = {}): Scene => ({
  declarations: [declared()],
  sessions: session === null ? [] : [session],
  ...over,
});
const workspace = { "box.a": { workspace: "/w", binary: null } };
const failed = { exitCode: null, exitedAt: "2026-11-30T11:00:00.000Z", lastLines: [], error: "no terminal" };
const parked = { role: "agent", "strategy.status": "flapping", "strategy.consecutive-fast-fails": "3" };
const shed = [declared({ host: "shed" })];
const twins = [declared(), declared()];

test.each<[name: string, scene: Scene, state: AgentRow["state"], status: AgentRow["status"], reason: string]>(
  [
    ["alive", one(main()), "running", "running", "runs"],
    ["on its way", one(main({ starting: true })), "starting", "running", "its launch is under way"],
    [
      "on its way, its host not known yet",
      one(main({ starting: true, process: "unknown" })),
      "starting",
      "running",
      "its launch is under way",
    ],
    ["no session yet", one(null), "waiting", null, "not started yet"],
    ["exited", one(exited(3)), "exited", "exited", "exit code 3"],
    ["killed by pty 0.10", one(exited(null)), "exited", "exited", "killed with no exit code"],
    ["vanished", one(main({ ...dead, status: "vanished" })), "vanished", "vanished", "vanished"],
    [
      "never started",
      one(exited(null), { ledger: { end: failed, failedLaunch: true } }),
      "exited",
      "exited",
      "could not be started: no terminal",
    ],
    [
      "parked",
      one(exited(1, { tags: parked })),
      "flapping",
      "exited",
      "failed 3 times in a row; to try again: convoy reset a",
    ],
    ["held", one(exited(0), { held: ["box.a"] }), "held", "exited", "held by down since then"],
    ["held, never started", one(null, { held: ["box.a"] }), "held", null, "held by down since then"],
    [
      "held, and survived",
      one(main(), { held: ["box.a"] }),
      "held",
      "running",
      "held by down since then; still runs",
    ],
    ["no workspace", one(null, { lacking: workspace }), "waiting", null, "waits for workspace /w"],
    [
      "two files, running",
      one(main(), { declarations: twins }),
      "conflict",
      "running",
      'identity "a" is declared in 0.toml and 1.toml: keep one of them; neither is acted on',
    ],
    [
      "two files, to be recovered",
      one(exited(1), { declarations: twins, ledger: {} }),
      "conflict",
      "exited",
      'identity "a" is declared in 0.toml and 1.toml: keep one of them; neither is acted on',
    ],
    ["cannot tell", one(main({ process: "unknown" })), "unknown", "running", "cannot tell whether it lives"],
    [
      "without its host",
      one(main({ orphaned: true })),
      "orphaned",
      "running",
      "runs without its session host",
    ],
    [
      "retired",
      one(main(), { declarations: [declared({ retired: true })] }),
      "retired",
      "running",
      "retired, 1 running",
    ],
    [
      "retired long ago",
      one(null, { declarations: [declared({ retired: true })] }),
      "retired",
      null,
      "retired, nothing running",
    ],
    ["another host's", one(null, { declarations: shed }), "elsewhere", null, "declared for host shed"],
    [
      "moved while it runs",
      one(main({ childPid: 7 }), { declarations: shed, ledger: {} }),
      "elsewhere",
      "running",
      "declared for host shed; still runs here (pid 7), to end it: convoy down --agent a",
    ],
    [
      "a batch that has run",
      one(exited(0), { declarations: [declared({ strategy: "batch" })] }),
      "done",
      "exited",
      "finished with exit code 0",
    ],
    [
      "file gone, running",
      one(main(), { declarations: [], ledger: {} }),
      "running",
      "running",
      "no declaration",
    ],
    ["undeclared, running", one(main(), { declarations: [] }), "running", "running", "no declaration"],
    ["undeclared, ended", one(exited(1), { declarations: [] }), "exited", "exited", "no declaration"],
    [
      "undeclared, parked",
      one(exited(1, { tags: parked }), { declarations: [] }),
      "flapping",
      "exited",
      "no declaration",
    ],
    [
      "undeclared, held",
      one(exited(1), { declarations: [], held: ["box.a"] }),
      "held",
      "exited",
      "no declaration",
    ],
    [
      "undeclared, only held",
      one(null, { declarations: [], held: ["box.a"] }),
      "held",
      null,
      "no declaration",
    ],
  ],
)("%s", (_name, given, state, status, reason) => {
  const { agents, undeclared } = list(given);
  expect(agents.map((row) => [row.state, row.status, row.reason])).toEqual([[state, status, reason]]);
  expect(undeclared).toEqual([]);
});

/** The ledger of a session that runs what its declaration compiles to, but for `over`. */
function ledgerOf(declaration: Declaration, over: Partial<Ledger["spec"]> = {}): Ledger {
  const [agent] = worldOf({ declarations: [declaration], sessions: [] }).inForce.agents;
  const spec = agent?.specs[0];
  if (agent === undefined || spec === undefined) throw new Error("nothing compiled");
  const { identity } = declaration;
  return ledgerFixture(spec.name, {
    agent: agent.busId,
    identity,
    declaration: { path: "0.toml", hostWritten: false, declaration },
    spec: { ...spec, ...over },
    restarts: 2,
  });
}

test.each<[string, ObservedSession, boolean]>([
  ["what was launched", main({ ledger: ledgerOf(declared()) }), false],
  ["another model", main({ ledger: ledgerOf(declared({ model: "old" })) }), true],
  [
    "members in another order",
    main({ ledger: ledgerOf(declared(), { env: reversed(ledgerOf(declared()).spec.env) }) }),
    false,
  ],
  ["another model, dead", exited(1, { ledger: ledgerOf(declared({ model: "old" })) }), false],
  ["another session id", main({ name: "old.a", ledger: ledgerOf(declared({ prefix: "old" })) }), true],
  ["no ledger", main(), false],
])("changed: %s", (_name, session, changed) => {
  expect(list(one(session)).agents.map((row) => row.changed)).toEqual([changed]);
});

function reversed(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).reverse());
}

test("the whole document", () => {
  const startedAt = "2026-11-30T10:00:00.000Z";
  const world = worldOf({
    declarations: [declared({ role: "supervisor" })],
    sessions: [
      main({ childPid: 101, createdAt: startedAt, ledger: ledgerOf(declared({ role: "supervisor" })) }),
      sessionOf({
        name: "box.a.web",
        agent: "box.a",
        tags: { "convoy.task": "web" },
        ...dead,
        status: "exited",
        exitCode: 2,
      }),
      sessionOf({ name: "box.z", agent: "box.z", tags: { role: "agent" }, ...dead, status: "vanished" }),
      sessionOf({
        name: "scratch",
        childPid: 9,
        cwd: "/t",
        record: recordFixture({ displayCommand: "vi x" }),
      }),
    ],
  });
  const web = {
    name: "box.a.web",
    task: "web",
    role: null,
    state: "exited" as const,
    pid: null,
    hostPid: null,
    startedAt: null,
    exitCode: 2,
  };
  const nothing = { pid: null, hostPid: null, startedAt: null, exitCode: null };
  const running = { pid: 101, hostPid: 100, startedAt, exitCode: null };
  expect(listDocument(world, decide(world), 42)).toEqual({
    network: "/n",
    host: "box",
    supervisor: { pid: 42 },
    agents: [
      {
        identity: "a",
        busId: "box.a",
        role: "supervisor",
        host: "box",
        state: "running",
        reason: "runs",
        changed: false,
        session: "box.a",
        ...running,
        status: "running",
        restarts: 2,
        sessions: [{ name: "box.a", task: "agent", role: "agent", state: "running", ...running }, web],
      },
      {
        identity: "z",
        busId: "box.z",
        role: null,
        host: "box",
        state: "vanished",
        reason: "no declaration",
        changed: false,
        session: "box.z",
        ...nothing,
        status: "vanished",
        restarts: 0,
        sessions: [{ name: "box.z", task: "agent", role: "agent", state: "vanished", ...nothing }],
      },
    ],
    undeclared: [{ session: "scratch", status: "running", pid: 9, command: "vi x", cwd: "/t" }],
    problems: [],
  });
});

test("every agent has one row, every session stands in one place", () => {
  const held = fc.subarray(["box.a", "box.b", "box.z"]);
  fc.assert(
    fc.property(scene, held, fc.boolean(), ({ entries, sessions }, holds, withLedgers) => {
      const world = worldOf({
        declarations: entries.map(({ declaration }) => declaration),
        sessions,
        held: holds,
        ledger: withLedgers ? {} : undefined,
      });
      const decision = decide(world);
      const { agents, undeclared } = listDocument(world, decision, null);
      const names = [
        ...agents.flatMap((row) => row.sessions.map(({ name }) => name)),
        ...undeclared.map(({ session }) => session),
      ];
      expect(names.toSorted()).toEqual(world.sessions.map(({ name }) => name).toSorted());
      const busIds = agents.map(({ busId }) => busId);
      expect(new Set(busIds).size).toBe(busIds.length);
      for (const { row } of decision.agents) expect(busIds).toContain(row.busId);
      for (const row of agents) expect(row.reason).not.toBe("");
    }),
  );
});

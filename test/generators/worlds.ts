/** Worlds for `decide`, built the way a pass builds them, and the world that a decision promises. */
import type { Declaration } from "../../src/declaration.ts";
import { planInForce } from "../../src/in-force.ts";
import type { Ledger, SessionSpec } from "../../src/ledger.ts";
import type { ObservedSession } from "../../src/session.ts";
import { patchTags } from "../../src/tags.ts";
import type { Decision, Lacking, Trigger, World } from "../../src/world.ts";
import { declarationOf, sessionOf, THIS_HOST } from "./declarations.ts";

export interface Scene {
  readonly declarations: readonly Declaration[];
  readonly sessions: readonly ObservedSession[];
  /** Every agent's session has a ledger with these members. */
  readonly ledger?: Partial<Ledger> | undefined;
  readonly held?: readonly string[];
  readonly lacking?: Readonly<Record<string, Lacking>>;
  readonly trigger?: Trigger;
}

const NETWORK = "/n";

export function worldOf(scene: Scene): World {
  const sessions = scene.sessions.map((session) => withLedger(session, scene.ledger));
  return build(scene, sessions);
}

function build(scene: Scene, sessions: readonly ObservedSession[]): World {
  const ledgers = sessions.map(({ ledger }) => ledger).filter((ledger): ledger is Ledger => ledger != null);
  const files = scene.declarations.map((declaration, index) => {
    const path = `${index}.toml`;
    const { identity, host } = declaration;
    const entry = { declaration, path };
    return { path, claimedIdentity: identity, entry, hostWritten: host !== null, parsed: true };
  });
  const catalog = { state: "read" as const, files, problems: [] };
  return {
    network: NETWORK,
    host: THIS_HOST,
    now: new Date("2026-11-30T12:00:00.000Z"),
    trigger: scene.trigger ?? "timer",
    boot: "now",
    inForce: planInForce({ catalog, ledgers, thisHost: THIS_HOST, network: NETWORK, home: "/h" }),
    sessions,
    holds: Object.fromEntries((scene.held ?? []).map((busId) => [busId, { at: "then", by: "down" }])),
    lacking: new Map(Object.entries(scene.lacking ?? {})),
  };
}

function withLedger(session: ObservedSession, over: Partial<Ledger> | undefined): ObservedSession {
  if (over === undefined || session.agent == null) return session;
  const identity = session.agent.slice(THIS_HOST.length + 1);
  return { ...session, ledger: ledgerOf(session, identity, over) };
}

function ledgerOf(session: ObservedSession, identity: string, over: Partial<Ledger>): Ledger {
  const declaration = declarationOf({ identity, host: THIS_HOST });
  const task = session.tags["convoy.task"] ?? (session.tags.role === "ding" ? "ding" : "agent");
  return {
    v: 1,
    agent: session.agent ?? "",
    identity,
    task,
    host: { pid: 100, start: "1" },
    child: { pid: 101, start: "1" },
    boot: "now",
    version: "0",
    protocol: 1,
    launchId: "L1",
    launchedAt: "2026-11-30T09:00:00.000Z",
    declaration: { path: "x.toml", hostWritten: true, declaration },
    spec: specOf(session, identity, task),
    baseEnv: {},
    tags: session.tags,
    tagsAt: null,
    endedBy: null,
    socket: null,
    terminated: false,
    restarts: 0,
    end: null,
    previous: [],
    reportedEnd: "L1",
    failedLaunch: false,
    ...over,
  };
}

function specOf(session: ObservedSession, identity: string, task: string): SessionSpec {
  const { name, command, args, tags, agent } = session;
  const main = task === "agent";
  const shared = { name, identity, task, main, command, args, tags };
  return { ...shared, agent: agent ?? "", displayCommand: command, cwd: "/w", env: {}, binary: null };
}

/** Every act of the decision done, and nothing else changed. */
export function afterwards(scene: Scene, world: World, decision: Decision): World {
  const ending = new Set(decision.teardowns.flatMap(({ sessions }) => sessions.map(({ name }) => name)));
  const parks = new Map(decision.parks.map((park) => [park.session, park]));
  const updates = new Map(decision.updates.map((update) => [update.session, update.change]));
  const told = new Set(decision.deaths.map(({ session }) => session.name));
  const starting = new Map(decision.launches.map((launch) => [launch.spec.name, launch]));
  const kept = world.sessions
    .filter(({ name }) => !starting.has(name))
    .map((session): ObservedSession => {
      const { name } = session;
      const park = parks.get(name);
      const tags = park === undefined ? session.tags : patchTags(session.tags, park.set, park.remove);
      const ledger = session.ledger ?? null;
      const changed: Ledger | null = ledger && {
        ...ledger,
        ...updates.get(name),
        reportedEnd: told.has(name) ? ledger.launchId : ledger.reportedEnd,
        ...(ending.has(name) ? { endedBy: "retire" as const } : {}),
      };
      const over = { tags, ledger: changed, missing: [] };
      if (!ending.has(name)) return { ...session, ...over };
      return { ...session, ...over, status: "exited", process: "not-ours", processAlive: false };
    });
  const started = [...starting.values()].map((launch) => {
    const { name, command, args } = launch.spec;
    const session = sessionOf({ name, agent: launch.busId, tags: launch.tags, command, args });
    const ledger = ledgerOf(session, launch.identity, { declaration: launch.declaration, spec: launch.spec });
    return { ...session, ledger };
  });
  return build(scene, [...kept, ...started]);
}

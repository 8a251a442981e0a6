/**
 * What a pass does, and why: a row per agent, and the acts that follow from it.
 * Pure: the world in, a decision out. `act` carries it out, `settle` accounts for what came of it.
 */
import { cycleProblem } from "./catalog-check.ts";
import { decideSession, type SessionVerdict } from "./decide-session.ts";
import { type AgentInForce, agentHere } from "./in-force.ts";
import { planLaunchOrder } from "./launch-order.ts";
import { mergeTags } from "./launch-spec.ts";
import type { SessionSpec } from "./ledger.ts";
import { type BusIdAccessor, dispositionOf, groupByBusId, isMainSession, liveOf } from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";
import {
  busIdAccessor,
  findDeaths,
  findForeignDeaths,
  findNudges,
  findRetags,
  findUpdates,
  mainSessionOf,
  runsOtherwise,
} from "./sessions-of.ts";
import type {
  AgentDecision,
  Blocked,
  Decision,
  LaunchAction,
  ParkAction,
  PlanRow,
  TeardownAction,
  World,
} from "./world.ts";

/** How the reason of an agent begins that pty's program started, or started again. */
export const OUTSIDE = "runs outside convoy's host";

/** Decides one pass over the world. Every agent in force gets exactly one row. */
export function decide(world: World): Decision {
  const accessor = busIdAccessor(world.inForce, world.host);
  const groups = groupByBusId(world.sessions, accessor);
  const byName = new Map(world.sessions.map((session) => [session.name, session]));
  const launched = groupByBusId(liveOf(world.sessions), (session) => session.ledger?.identity ?? null);
  const acts: Acts = { launches: [], parks: [], teardowns: [], withoutSidecar: [] };
  const agents = world.inForce.agents.map((agent) => {
    const own = groups.get(agent.busId) ?? [];
    return decideAgent(agent, { world, accessor, own, byName, launched, acts });
  });
  const here = world.inForce.agents.filter((agent) => agentHere(agent, world.host));
  const { order, cycles } = planLaunchOrder(here.map(({ entry }) => entry.declaration));
  return {
    agents,
    deaths: [...findDeaths(world, accessor), ...findForeignDeaths(acts.launches)],
    teardowns: acts.teardowns,
    parks: acts.parks,
    launches: sortLaunches(
      acts.launches,
      order.map(({ identity }) => identity),
    ),
    nudges: findNudges(world, accessor),
    updates: findUpdates(world),
    retags: findRetags(world),
    problems: [...world.inForce.problems, ...cycles.map((cycle) => cycleProblem(cycle, here))],
    withoutSidecar: acts.withoutSidecar,
  };
}

interface Acts {
  readonly launches: LaunchAction[];
  readonly parks: ParkAction[];
  readonly teardowns: TeardownAction[];
  readonly withoutSidecar: string[];
}

interface AgentContext {
  readonly world: World;
  readonly accessor: BusIdAccessor;
  readonly own: readonly ObservedSession[];
  readonly byName: ReadonlyMap<string, ObservedSession>;
  /** Live sessions that convoy launched, by identity. */
  readonly launched: ReadonlyMap<string, readonly ObservedSession[]>;
  readonly acts: Acts;
}

function decideAgent(agent: AgentInForce, context: AgentContext): AgentDecision {
  const { world, own } = context;
  const disposition = dispositionOf(agent.entry, own, world.host, context.accessor);
  switch (disposition) {
    case "otherHost":
      return decideElsewhere(agent, context);
    case "teardown":
      return decideRetired(agent, context);
    case "adopt":
    case "launch":
      return decideActive(agent, disposition, context);
  }
}

function rowOf(
  agent: AgentInForce,
  disposition: PlanRow["disposition"],
  blocked: Blocked | null,
  reason: string,
): PlanRow {
  const { identity } = agent.entry.declaration;
  return { identity, busId: agent.busId, disposition, blocked, reason, path: agent.entry.path };
}

/** Decision 12: a move whose edit came first leaves the old host's session running, and says so. */
function decideElsewhere(agent: AgentInForce, { launched }: AgentContext): AgentDecision {
  const { identity, host } = agent.entry.declaration;
  const stayed = (launched.get(identity) ?? []).filter(({ ledger }) => ledger?.agent !== agent.busId);
  const main = stayed.find(isMainSession) ?? null;
  const still =
    main === null
      ? ""
      : `; still runs here (pid ${main.childPid ?? main.pid ?? "?"}), to end it: convoy down --agent ${identity}`;
  const row = rowOf(agent, "otherHost", null, `declared for host ${host}${still}`);
  return { agent, row, sessions: stayed, main, waitingFor: null };
}

function decideRetired(agent: AgentInForce, { own, acts }: AgentContext): AgentDecision {
  const { identity } = agent.entry.declaration;
  const live = liveOf(own);
  const known = live.filter((session) => session.process !== "unknown");
  const main = live.find(isMainSession) ?? null;
  const decision = (blocked: Blocked | null, reason: string): AgentDecision => {
    return { agent, row: rowOf(agent, "teardown", blocked, reason), sessions: own, main, waitingFor: null };
  };
  if (agent.conflict !== null) return decision("conflict", agent.conflict);
  if (live.length === 0) return decision(null, "retired, nothing running");
  if (known.length === 0) return decision("unknown", "retired; cannot tell whether it lives");
  acts.teardowns.push({ identity, busId: agent.busId, sessions: known });
  return decision(null, `retired, ${known.length} running`);
}

function decideActive(
  agent: AgentInForce,
  disposition: "adopt" | "launch",
  context: AgentContext,
): AgentDecision {
  const { world, own, acts } = context;
  const spec = agent.specs.find((candidate) => candidate.main);
  if (spec === undefined) throw new Error(`${agent.entry.path}: compiled to no main task`);
  const main = mainSessionOf(spec, own, context.byName);
  const batch = agent.entry.declaration.strategy === "batch";
  const verdict = decideSession(spec, main, batch, world);
  const decision = (blocked: Blocked | null, reason: string, waitingFor: string | null = null) => {
    const row = rowOf(agent, disposition, blocked, reason);
    return { agent, row, sessions: own, main, waitingFor };
  };
  const hold = world.holds[agent.busId];
  if (verdict.verdict === "unknown") return decision("unknown", describeDoubt(main));
  if (hold !== undefined) return decision("held", `held by ${hold.by} since ${hold.at}`);
  const frozen = agent.conflict !== null && !(agent.recoverable && verdict.verdict !== "alive");
  if (frozen) return decision("conflict", agent.conflict ?? "");
  if (!agent.recoverable && verdict.verdict === "start") {
    const what = `${agent.entry.path} to be mended: it was ended on purpose`;
    return decision("waiting", `waits for ${what}`, what);
  }
  switch (verdict.verdict) {
    case "alive":
      decideOthers(agent, "heal", context);
      return decision(null, describeRun(agent, main, own));
    case "done":
      return decision("done", "finished with exit code 0");
    case "parked":
      return decision("parked", parkedReason(agent, verdict.fastFails));
    case "park":
      acts.parks.push(parkAction(agent, spec, main, verdict));
      return decision("parked", parkedReason(agent, verdict.respawn.fastFails));
    case "waiting":
      return decision("waiting", `waits for ${verdict.for}`, verdict.for);
    case "start":
      acts.launches.push(launchAction(agent, spec, main, verdict, verdict.kind));
      decideOthers(agent, "launch", context);
      return decision(null, verdict.reason);
  }
}

function describeDoubt(main: ObservedSession | null): string {
  const doubt = "cannot tell whether it lives";
  if (main === null || main.childPid == null || main.ledger != null || main.record != null) return doubt;
  return `${doubt}: process ${main.childPid} is marked as its own, and its files are gone`;
}

function describeRun(
  agent: AgentInForce,
  main: ObservedSession | null,
  own: readonly ObservedSession[],
): string {
  const { identity } = agent.entry.declaration;
  if (main?.outside === true) return `${OUTSIDE}; to take it in: convoy restart ${identity}`;
  const runs = main?.orphaned === true ? "runs without its session host" : "runs";
  const changed = agent.conflict === null && own.some((session) => runsOtherwise(session, agent.specs));
  return changed ? `${runs}, its declaration has changed since: convoy restart ${identity}` : runs;
}

function parkedReason(agent: AgentInForce, fastFails: number): string {
  return `failed ${fastFails === 1 ? "once" : `${fastFails} times in a row`}; to try again: convoy reset ${agent.entry.declaration.identity}`;
}

/** Sidecars and other tasks, restored beside a main task that lives or is about to. */
function decideOthers(agent: AgentInForce, kind: "launch" | "heal", context: AgentContext): void {
  const { world, acts } = context;
  for (const spec of agent.specs) {
    if (spec.main) continue;
    if (spec.task === "ding" && world.lacking.get(spec.name)?.binary) {
      acts.withoutSidecar.push(agent.busId);
      continue;
    }
    const session = context.byName.get(spec.name) ?? null;
    const verdict = decideSession(spec, session, false, world);
    if (verdict.verdict === "park") acts.parks.push(parkAction(agent, spec, session, verdict));
    if (verdict.verdict !== "start") continue;
    acts.launches.push(launchAction(agent, spec, session, verdict, kind));
  }
}

function parkAction(
  agent: AgentInForce,
  spec: SessionSpec,
  session: ObservedSession | null,
  { respawn }: Extract<SessionVerdict, { verdict: "park" }>,
): ParkAction {
  return {
    identity: agent.entry.declaration.identity,
    busId: agent.busId,
    session: session?.name ?? spec.name,
    set: respawn.set,
    remove: respawn.remove,
    counter: respawn.fastFails,
    limit: respawn.limit,
    windowSeconds: respawn.windowSeconds,
  };
}

function launchAction(
  agent: AgentInForce,
  spec: SessionSpec,
  remains: ObservedSession | null,
  verdict: Extract<SessionVerdict, { verdict: "start" }>,
  kind: LaunchAction["kind"],
): LaunchAction {
  const { declaration, path } = agent.entry;
  return {
    kind,
    after: spec.main ? declaration.supervisor : declaration.identity,
    identity: declaration.identity,
    busId: agent.busId,
    spec,
    declaration: { path, hostWritten: agent.hostWritten, declaration },
    reason: verdict.reason,
    tags: mergeTags(verdict.tags, spec.tags),
    tagsBefore: verdict.tagsBefore,
    fastFails: verdict.fastFails,
    limit: verdict.limit,
    remains,
  };
}

/** Main tasks in launch order, then the others in the same order. */
function sortLaunches(launches: readonly LaunchAction[], order: readonly string[]): LaunchAction[] {
  const place = new Map(order.map((identity, index) => [identity, index]));
  const rank = (launch: LaunchAction) => place.get(launch.identity) ?? order.length;
  return [...launches].sort(
    (a, b) =>
      Number(b.spec.main) - Number(a.spec.main) || rank(a) - rank(b) || (a.spec.name < b.spec.name ? -1 : 1),
  );
}

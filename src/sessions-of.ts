/** Whose each session is, and what a pass owes to sessions apart from their agents' rows. */
import { shortHost } from "./identity.ts";
import { agentHere, type InForce } from "./in-force.ts";
import type { LedgerDeclaration, SessionSpec } from "./ledger.ts";
import { isNoPatch } from "./lost-tags.ts";
import { type BusIdAccessor, isMainSession, liveOf } from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";
import type { DeathNotice, LaunchAction, LedgerUpdate, World } from "./world.ts";

/**
 * Formats §4, first match wins: the session's name is one that a declaration for this host compiles to; else what
 * ledger, tags and environment say. A clash gives no claim by name.
 */
export function busIdAccessor(inForce: InForce, thisHost: string): BusIdAccessor {
  const byName = new Map<string, string>();
  for (const agent of inForce.agents) {
    if (agent.conflict !== null || !agentHere(agent, thisHost)) continue;
    for (const spec of agent.specs) byName.set(spec.name, agent.busId);
  }
  return (session) => byName.get(session.name) ?? session.agent ?? null;
}

/**
 * The session that decides whether the agent is alive: a live main one under whatever name, one that cannot be
 * told, the one under the spec's own name, the last that died; null when there never was one.
 */
export function mainSessionOf(
  spec: SessionSpec,
  own: readonly ObservedSession[],
  byName: ReadonlyMap<string, ObservedSession>,
): ObservedSession | null {
  const mains = own.filter(isMainSession).sort(newestFirst);
  const live = liveOf(mains);
  return (
    live.find((session) => session.process === "ours") ?? live[0] ?? byName.get(spec.name) ?? mains[0] ?? null
  );
}

/** By end, the last first, those that nobody saw end behind the others; then by name. */
function newestFirst(a: ObservedSession, b: ObservedSession): number {
  const [endA, endB] = [a.exitedAt ?? "", b.exitedAt ?? ""];
  if (endA !== endB) return endA < endB ? 1 : -1;
  return a.name < b.name ? -1 : 1;
}

/** Ends that nobody was told of. An end that convoy was asked for, and a launch that failed, are not deaths. */
export function findDeaths(world: World, accessor: BusIdAccessor): DeathNotice[] {
  const deaths: DeathNotice[] = [];
  for (const session of world.sessions) {
    const { ledger } = session;
    const busId = accessor(session);
    if (busId === null || ledger === null || ledger === undefined) continue;
    if (session.processAlive || session.status === "running") continue;
    if (ledger.reportedEnd === ledger.launchId || ledger.endedBy !== null) continue;
    const neverStarted = ledger.host === null && ledger.end === null;
    if (neverStarted || ledger.failedLaunch || (ledger.end !== null && ledger.end.error !== null)) continue;
    deaths.push({ identity: ledger.identity, busId, session });
  }
  return deaths;
}

/**
 * Ends of sessions without a ledger (another program started them), whose successors are launched in this pass: from
 * then on there is a ledger, and the end is not met again.
 */
export function findForeignDeaths(launches: readonly LaunchAction[]): DeathNotice[] {
  return launches.flatMap(({ identity, busId, remains }) =>
    remains === null || remains.ledger != null ? [] : [{ identity, busId, session: remains }],
  );
}

/** Living sessions of this network's agents that lost a registry file and whose host can put it back. */
export function findNudges(world: World, accessor: BusIdAccessor): ObservedSession[] {
  return world.sessions.filter(
    (session) =>
      accessor(session) !== null &&
      session.host === "ours" &&
      session.starting !== true &&
      (session.missing ?? []).length > 0,
  );
}

/** Sessions in whose record convoy's tags were undone by a writer that did not know of them. */
export function findRetags({ sessions }: World): string[] {
  const undone = sessions.filter(({ lostTags }) => lostTags !== undefined && !isNoPatch(lostTags));
  return undone.map(({ name }) => name);
}

/**
 * Ledgers of declared agents whose last good declaration is not what the catalog says now, and those of sessions that
 * live on after a `down` that never finished: not held any more, what comes is not its doing.
 */
export function findUpdates(world: World): LedgerUpdate[] {
  const current = new Map<string, LedgerDeclaration>();
  for (const { entry, source, hostWritten, conflict } of world.inForce.agents) {
    if (source !== "catalog" || conflict !== null) continue;
    const { declaration, path } = entry;
    current.set(declaration.identity, { path, hostWritten, declaration });
  }
  const updates: LedgerUpdate[] = [];
  for (const { name, ledger, process } of world.sessions) {
    const declaration = ledger == null ? undefined : current.get(ledger.identity);
    if (ledger == null || declaration === undefined) continue;
    const superseded = JSON.stringify(declaration) !== JSON.stringify(ledger.declaration);
    const livesOn =
      process === "ours" && ledger.endedBy === "down" && world.holds[ledger.agent] === undefined;
    if (!superseded && !livesOn) continue;
    const change = { ...(superseded ? { declaration } : {}), ...(livesOn ? { endedBy: null } : {}) };
    updates.push({ session: name, change });
  }
  return updates;
}

/**
 * Whether a living session runs something else than its agent's declaration compiles to now. One that another program
 * runs cannot be told, and is not called changed.
 */
export function runsOtherwise(session: ObservedSession, specs: readonly SessionSpec[]): boolean {
  if (session.ledger == null || session.outside === true || liveOf([session]).length === 0) return false;
  const declared = specs.find((spec) => spec.name === session.name);
  return !Bun.deepEquals(session.ledger.spec, declared, true);
}

/** Whether a bus id names an agent of this host. */
export function isOfHost(busId: string, thisHost: string): boolean {
  return busId.startsWith(`${shortHost(thisHost)}.`);
}

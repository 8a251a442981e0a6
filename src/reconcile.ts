/**
 * Desired against actual (SUP-R01, R02): every declaration gets exactly one of four dispositions.
 * Pure: no file, no process, no clock. Whose a session is comes from the accessor that is handed in.
 */
import type { CatalogEntry, Declaration } from "./declaration.ts";
import { busIdOf as formatBusId, shortHost } from "./identity.ts";
import type { ObservedSession } from "./session.ts";

export type Disposition = "launch" | "teardown" | "adopt" | "otherHost";

export interface EntryWithSessions {
  readonly entry: CatalogEntry;
  readonly sessions: ObservedSession[];
}

export interface ReconcilePlan {
  readonly launch: CatalogEntry[];
  readonly teardown: EntryWithSessions[];
  readonly adopt: EntryWithSessions[];
  readonly otherHost: CatalogEntry[];
}

/** Whose a session is: a bus id, or null when it is nobody's. */
export type BusIdAccessor = (session: ObservedSession) => string | null;

/** The host a declaration is for, as this machine reads it. */
export function hostOf(declaration: Declaration, thisHost: string): string {
  return shortHost(declaration.host ?? thisHost);
}

/** `<host>.<identity>`, the join key; a declaration without a host belongs to the machine that reads it. */
export function agentBusId(declaration: Declaration, thisHost: string): string {
  return formatBusId(hostOf(declaration, thisHost), declaration.identity);
}

/** Sessions that are live: not gone, or gone while a process of theirs is not provably dead (SUP-R09, SUP-C02). */
export function liveOf(sessions: readonly ObservedSession[]): ObservedSession[] {
  return sessions.filter((session) => session.status === "running" || session.processAlive);
}

/** Sidecars and other tasks are the agent's, and do not make it alive. */
export function isMainSession(session: ObservedSession): boolean {
  return session.tags.role !== "ding" && session.tags["convoy.task"] === undefined;
}

/** Whether a batch agent's main session has finished its one run, and nobody asked for another. */
function isDone(declaration: Declaration, sessions: readonly ObservedSession[]): boolean {
  if (declaration.strategy !== "batch") return false;
  return sessions.some(
    (session) =>
      isMainSession(session) &&
      session.status === "exited" &&
      !session.processAlive &&
      session.exitCode === 0 &&
      session.ledger?.endedBy !== "restart",
  );
}

/** The rules for an agent of this host, most specific first, over the sessions that are its own; `live` are of those. */
function dispositionHere(
  { declaration }: CatalogEntry,
  own: readonly ObservedSession[],
  live: readonly ObservedSession[],
): Exclude<Disposition, "otherHost"> {
  if (declaration.retired === true) return "teardown";
  if (live.some(isMainSession)) return "adopt";
  if (isDone(declaration, own)) return "adopt";
  return "launch";
}

/**
 * The disposition of one entry. Total: exactly one for every entry, by the same rules as `reconcilePlan`;
 * a retired entry with nothing live is "teardown" here and in no bucket there.
 */
export function dispositionOf(
  entry: CatalogEntry,
  sessions: readonly ObservedSession[],
  thisHost: string,
  busIdOf: BusIdAccessor,
): Disposition {
  if (hostOf(entry.declaration, thisHost) !== shortHost(thisHost)) return "otherHost";
  const busId = agentBusId(entry.declaration, thisHost);
  const own = sessions.filter((session) => busIdOf(session) === busId);
  return dispositionHere(entry, own, liveOf(own));
}

/** Sessions by bus id; linear in their number. */
export function groupByBusId(
  sessions: readonly ObservedSession[],
  busIdOf: BusIdAccessor,
): Map<string, ObservedSession[]> {
  const groups = new Map<string, ObservedSession[]>();
  for (const session of sessions) {
    const busId = busIdOf(session);
    if (busId === null) continue;
    const group = groups.get(busId);
    if (group === undefined) groups.set(busId, [session]);
    else group.push(session);
  }
  return groups;
}

const NONE: readonly ObservedSession[] = [];

/**
 * The plan: four buckets, each entry in one of them (or, retired with nothing live, in none).
 * `adopt` and `teardown` carry the agent's live sessions; a finished batch is adopted with none.
 * Sorted by identity, so that the order of the inputs does not matter.
 */
export function reconcilePlan(
  entries: readonly CatalogEntry[],
  sessions: readonly ObservedSession[],
  thisHost: string,
  busIdOf: BusIdAccessor,
): ReconcilePlan {
  const here = shortHost(thisHost);
  const groups = groupByBusId(sessions, busIdOf);
  const plan: ReconcilePlan = { launch: [], teardown: [], adopt: [], otherHost: [] };
  for (const entry of entries) {
    if (hostOf(entry.declaration, here) !== here) {
      plan.otherHost.push(entry);
      continue;
    }
    const own = groups.get(`${here}.${entry.declaration.identity}`) ?? NONE;
    const live = own === NONE ? [] : liveOf(own);
    place(plan, entry, live, dispositionHere(entry, own, live));
  }
  return sorted(plan);
}

function byIdentity(a: CatalogEntry, b: CatalogEntry): number {
  return compare(a.declaration.identity, b.declaration.identity) || compare(a.path, b.path);
}

/** Code-unit order: the same on every machine, and cheap over ten thousand names. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sorted(plan: ReconcilePlan): ReconcilePlan {
  plan.launch.sort(byIdentity);
  plan.otherHost.sort(byIdentity);
  for (const bucket of [plan.teardown, plan.adopt]) {
    bucket.sort((a, b) => byIdentity(a.entry, b.entry));
    for (const { sessions } of bucket) sessions.sort((a, b) => compare(a.name, b.name));
  }
  return plan;
}

function place(
  plan: ReconcilePlan,
  entry: CatalogEntry,
  live: ObservedSession[],
  where: Exclude<Disposition, "otherHost">,
): void {
  if (where === "launch") {
    plan.launch.push(entry);
    return;
  }
  if (where === "adopt") {
    plan.adopt.push({ entry, sessions: live.some(isMainSession) ? live : [] });
  } else if (live.length > 0) {
    plan.teardown.push({ entry, sessions: live });
  }
}

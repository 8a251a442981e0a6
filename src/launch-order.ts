/** Who is launched before whom: a supervisor before the agents that name it. Order, not a barrier. */

export interface Supervised {
  readonly identity: string;
  /** Identity of the agent it reports to. */
  readonly supervisor: string | null;
}

export interface SupervisorCycle {
  /** In the order in which each names the next, from the first by name. */
  readonly members: readonly string[];
  readonly message: string;
}

export interface LaunchOrder<T extends Supervised> {
  /** The waves one after another. */
  readonly order: T[];
  /** By distance from the top, each sorted by name; nobody's supervisor is in a later wave than its own. */
  readonly waves: T[][];
  readonly cycles: SupervisorCycle[];
}

/**
 * Orders the agents that are to be launched. A supervisor that is not among them (missing, running already, on
 * another host) is no constraint. The members of a cycle are taken as if they had no supervisor, and it is said.
 * Linear but for the sorting; the same for any order of `items`.
 */
export function planLaunchOrder<T extends Supervised>(items: readonly T[]): LaunchOrder<T> {
  const sorted = [...items].sort(byName);
  const supervisors = new Map<string, string | null>();
  for (const { identity, supervisor } of sorted) {
    if (!supervisors.has(identity)) supervisors.set(identity, supervisor);
  }
  const { depths, cycles } = measure(supervisors);
  const waves: T[][] = [];
  for (const item of sorted) {
    const depth = depths.get(item.identity) ?? 0;
    while (waves.length <= depth) waves.push([]);
    waves[depth]?.push(item);
  }
  return { order: waves.flat(), waves, cycles };
}

function byName(a: Supervised, b: Supervised): number {
  return compare(a.identity, b.identity) || compare(a.supervisor ?? "", b.supervisor ?? "");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Depth of every identity below the one at the top of its chain; a whole chain is walked once. */
function measure(supervisors: ReadonlyMap<string, string | null>) {
  const depths = new Map<string, number>();
  const cycles: SupervisorCycle[] = [];
  for (const identity of supervisors.keys()) {
    const chain = chainFrom(identity, supervisors, depths);
    const top = supervisors.get(chain.at(-1) ?? "") ?? null;
    const start = top === null || depths.has(top) ? -1 : chain.indexOf(top);
    if (start >= 0) {
      const members = chain.splice(start);
      for (const member of members) depths.set(member, 0);
      cycles.push(describeCycle(members));
    }
    for (const below of chain.reverse()) {
      const above = supervisors.get(below) ?? null;
      const depth = above === null ? undefined : depths.get(above);
      depths.set(below, depth === undefined ? 0 : depth + 1);
    }
  }
  return { depths, cycles };
}

/** From `identity` upwards, up to what has been measured, is not here, or would close a circle. */
function chainFrom(
  identity: string,
  supervisors: ReadonlyMap<string, string | null>,
  depths: ReadonlyMap<string, number>,
): string[] {
  const chain = new Set<string>();
  let next: string | null = identity;
  while (next !== null && supervisors.has(next) && !depths.has(next) && !chain.has(next)) {
    chain.add(next);
    next = supervisors.get(next) ?? null;
  }
  return [...chain];
}

/** `identities` name each its successor, the last the first; turned so that it reads the same every time. */
function describeCycle(identities: readonly string[]): SupervisorCycle {
  const first = identities.indexOf([...identities].sort()[0] ?? "");
  const members = [...identities.slice(first), ...identities.slice(0, first)];
  const circle = [...members, members[0]].join(" -> ");
  return { members, message: `supervisors go in a circle (${circle}): started in the order of their names` };
}

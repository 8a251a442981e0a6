/** Which sessions one `down` ends, and which agents it holds. Pure. */
import { agentHere } from "./in-force.ts";
import { type BusIdAccessor, liveOf } from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";
import { isOfHost } from "./sessions-of.ts";
import type { World } from "./world.ts";

export interface DownTarget {
  readonly identity: string;
  readonly busId: string;
  readonly session: ObservedSession;
}

export interface DownPlan {
  /** Live sessions of the agents, and those of which cannot be told. Sorted by session. */
  readonly targets: readonly DownTarget[];
  /** Every agent that was asked about: live, starting, dead, waiting or parked. Sorted. */
  readonly held: readonly string[];
  /** Every session name under which one of them runs, ran, or would be launched. */
  readonly names: readonly string[];
  /** Ended already: what is stale of their sockets and pid files is cleared away. */
  readonly dead: readonly DownTarget[];
}

/** `only` are bus ids; null means every agent of this host. Sessions that are nobody's are never among them. */
export function planDown(world: World, accessor: BusIdAccessor, only: ReadonlySet<string> | null): DownPlan {
  const wanted = (busId: string) => (only === null ? isOfHost(busId, world.host) : only.has(busId));
  const held = new Set<string>();
  const names = new Set<string>();
  for (const agent of world.inForce.agents) {
    const here = agentHere(agent, world.host) && !agent.entry.declaration.retired;
    if (!here || !wanted(agent.busId)) continue;
    held.add(agent.busId);
    for (const spec of agent.specs) names.add(spec.name);
  }
  const owned: DownTarget[] = [];
  for (const session of world.sessions) {
    const busId = accessor(session);
    if (busId === null || !wanted(busId)) continue;
    owned.push({ identity: identityIn(busId), busId, session });
    names.add(session.name);
    if (session.ledger != null) held.add(busId);
  }
  const live = new Set(liveOf(owned.map(({ session }) => session)));
  return {
    targets: owned.filter(({ session }) => live.has(session)),
    dead: owned.filter(({ session }) => !live.has(session)),
    held: [...held].sort(),
    names: [...names].sort(),
  };
}

/** The identity behind the host in a bus id. */
export function identityIn(busId: string): string {
  return busId.slice(busId.indexOf(".") + 1);
}

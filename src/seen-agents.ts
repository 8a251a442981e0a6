/** Whose every session is, for commands that look: agents that are declared, agents that are not, and nobody's. */
import { identityIn } from "./down-plan.ts";
import { isMainSession, liveOf } from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";
import { busIdAccessor } from "./sessions-of.ts";
import type { AgentDecision, Decision, World } from "./world.ts";

/** One agent with its sessions, declared or not. */
export interface SeenAgent {
  readonly identity: string;
  readonly busId: string;
  /** Null for an agent that nothing in force declares. */
  readonly agent: AgentDecision | null;
  /** The main one first, then by name. */
  readonly sessions: readonly ObservedSession[];
  /** The session that makes it alive, or the last that did; null when none is here. */
  readonly main: ObservedSession | null;
}

export interface SeenAgents {
  /** Sorted by identity, then bus id. */
  readonly agents: readonly SeenAgent[];
  /** Sessions that belong to no agent, sorted by name. */
  readonly nobodys: readonly ObservedSession[];
}

/**
 * Every agent of the decision once, every session once. An agent that moved to another host keeps what it left here.
 * A hold without declaration or session makes an agent too: somebody has to be able to release it.
 */
export function groupSeenAgents(world: World, decision: Decision): SeenAgents {
  const accessor = busIdAccessor(world.inForce, world.host);
  const declared = new Map(decision.agents.map((agent) => [agent.row.busId, agent]));
  const moved = movedAgents(decision);
  const groups = new Map<string, ObservedSession[]>([...declared.keys()].map((busId) => [busId, []]));
  const nobodys: ObservedSession[] = [];
  for (const session of world.sessions) {
    const owner = accessor(session);
    if (owner === null) {
      nobodys.push(session);
      continue;
    }
    const elsewhere = declared.has(owner) ? undefined : moved.get(identityIn(owner));
    const busId = elsewhere ?? owner;
    const group = groups.get(busId);
    if (group === undefined) groups.set(busId, [session]);
    else group.push(session);
  }
  for (const busId of Object.keys(world.holds)) {
    if (!groups.has(busId) && !moved.has(identityIn(busId))) groups.set(busId, []);
  }
  const agents = [...groups].map(([busId, sessions]) =>
    seenAgent(busId, sessions, declared.get(busId) ?? null),
  );
  return {
    agents: agents.sort((a, b) => compare(a.identity, b.identity) || compare(a.busId, b.busId)),
    nobodys: nobodys.sort((a, b) => compare(a.name, b.name)),
  };
}

/** Bus ids of agents that are declared for another host, by identity. */
function movedAgents(decision: Decision): Map<string, string> {
  const moved = new Map<string, string>();
  for (const { row } of decision.agents) {
    if (row.disposition === "otherHost" && !moved.has(row.identity)) moved.set(row.identity, row.busId);
  }
  return moved;
}

function seenAgent(busId: string, own: readonly ObservedSession[], agent: AgentDecision | null): SeenAgent {
  const main = agent?.main != null && own.includes(agent.main) ? agent.main : pickMain(own);
  const others = own.filter((session) => session !== main).sort((a, b) => compare(a.name, b.name));
  const identity = agent?.row.identity ?? identityIn(busId);
  return { identity, busId, agent, sessions: main === null ? others : [main, ...others], main };
}

/** A live one whose process is known, any live one, the last that ended; sidecars and other tasks are none. */
function pickMain(own: readonly ObservedSession[]): ObservedSession | null {
  const mains = own.filter(isMainSession);
  const live = liveOf(mains);
  const ended = mains.toSorted(
    (a, b) => compare(b.exitedAt ?? "", a.exitedAt ?? "") || compare(a.name, b.name),
  );
  return live.find((session) => session.process === "ours") ?? live[0] ?? ended[0] ?? null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

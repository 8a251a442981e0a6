/** What a person means by `<agent>`: an identity, a bus id or a session id. */
import { ConvoyError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { groupSeenAgents, type SeenAgent } from "../seen-agents.ts";
import type { ObservedSession } from "../session.ts";
import { busIdAccessor } from "../sessions-of.ts";
import type { Look } from "./look.ts";

export type FoundAgent = SeenAgent;

/** A session that a command is to show or type into, with the agent it belongs to. */
export interface FoundSession {
  /** Null for a session that is nobody's. */
  readonly agent: FoundAgent | null;
  /** The session that was named, else the agent's main one; null when the agent has none here. */
  readonly session: ObservedSession | null;
}

type Looked = Pick<Look, "world" | "decision">;

/**
 * The one agent that `ref` names, declared or not. Throws "not-found", with the nearest name, when there is none, and
 * "usage" when several are meant. A session that is nobody's is no agent.
 */
export function findAgent(look: Looked, ref: string): FoundAgent {
  const { agent, session } = findSession(look, ref);
  if (agent !== null) return agent;
  throw new ConvoyError("not-found", `session ${session?.name ?? ref} belongs to no agent`, "convoy ls");
}

/**
 * The bus ids that the sessions here of the agent that `ref` names carry: one that was moved to another host left them
 * under its former bus id. Without a session here, the declared one.
 */
export function findBusIds(look: Looked, ref: string): string[] {
  const { busId, sessions } = findAgent(look, ref);
  const accessor = busIdAccessor(look.world.inForce, look.world.host);
  const own = sessions.map(accessor).filter((one) => one !== null);
  return own.length === 0 ? [busId] : [...new Set(own)];
}

/** As `findAgent`, for commands that look at one session: a session id names that very session, nobody's too. */
export function findSession(look: Looked, ref: string): FoundSession {
  const { agents, nobodys } = groupSeenAgents(look.world, look.decision);
  const meant = agents.filter((agent) => isNamedBy(agent, ref));
  if (meant.length > 1) throw ambiguous(ref, meant);
  const [agent] = meant;
  if (agent === undefined) {
    const session = nobodys.find(({ name }) => name === ref);
    if (session === undefined) throw notFound(look, ref, agents, nobodys);
    return { agent: null, session };
  }
  const byName = agent.sessions.find(({ name }) => name === ref);
  const named = agent.identity === ref || agent.busId === ref ? undefined : byName;
  return { agent, session: named ?? agent.main };
}

function isNamedBy({ identity, busId, sessions }: FoundAgent, ref: string): boolean {
  return identity === ref || busId === ref || sessions.some(({ name }) => name === ref);
}

function ambiguous(ref: string, meant: readonly FoundAgent[]): ConvoyError {
  const busIds = meant.map(({ busId }) => busId);
  return new ConvoyError(
    "usage",
    `"${ref}" names ${busIds.length} agents: ${busIds.join(", ")}`,
    "convoy ls",
  );
}

function notFound(
  { world }: Looked,
  ref: string,
  agents: readonly FoundAgent[],
  nobodys: readonly ObservedSession[],
): ConvoyError {
  const names = agents.flatMap(({ identity, busId, sessions }) => [
    identity,
    busId,
    ...sessions.map(({ name }) => name),
  ]);
  const meant = nearest(ref, [...new Set([...names, ...nobodys.map(({ name }) => name)])]);
  const hint = meant === null ? "" : `; did you mean ${meant}?`;
  return new ConvoyError("not-found", `no agent "${ref}" in ${world.network}${hint}`, "convoy ls");
}

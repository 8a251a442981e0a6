/** The decision as `plan --json` prints it. */

import { count } from "./count.ts";
import type { PlanDocument } from "./events.ts";
import type { Disposition } from "./reconcile.ts";
import type { Decision, World } from "./world.ts";

/** Blocked agents stand in none of the lists, and neither does a retired one with nothing running. */
export function planDocument(world: Pick<World, "network" | "host">, decision: Decision): PlanDocument {
  const tornDown = new Set(decision.teardowns.map((action) => action.busId));
  const list = (disposition: Disposition) =>
    decision.agents
      .map((agent) => agent.row)
      .filter((row) => row.disposition === disposition && row.blocked === null)
      .filter((row) => disposition !== "teardown" || tornDown.has(row.busId))
      .map((row) => row.identity)
      .sort();
  return {
    type: "plan",
    network: world.network,
    host: world.host,
    launch: list("launch"),
    teardown: list("teardown"),
    adopt: list("adopt"),
    otherHost: list("otherHost"),
    agents: decision.agents.map((agent) => agent.row),
    problems: decision.problems,
  };
}

/** Whether carrying the decision out would start, end or heal a session (exit 2 of `plan --detailed-exitcode`). */
export function wouldAct(decision: Decision): boolean {
  return decision.launches.length + decision.teardowns.length + decision.nudges.length > 0;
}

/**
 * What to say when agents are declared and not one of them for this machine: the machines that are named, since a name
 * spelled otherwise than the machine's own would else start nothing without a word. Null when there is one.
 */
export function describeNoneHere({ agents, host }: Pick<PlanDocument, "agents" | "host">): string | null {
  if (agents.length === 0 || agents.some((row) => row.disposition !== "otherHost")) return null;
  const hosts = new Set(agents.map((row) => row.busId.split(".", 1)[0]));
  const verb = agents.length === 1 ? "is" : "are";
  return `0 of ${count(agents.length, "agent")} ${verb} declared for this host (${host}); hosts seen: ${[...hosts].sort().join(", ")}`;
}

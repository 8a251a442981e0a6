/** Everything there is to say about a catalog, for `convoy validate`. */
import type { Problem } from "./declaration.ts";
import { type AgentInForce, type InForce, sortProblems } from "./in-force.ts";
import { planLaunchOrder, type SupervisorCycle } from "./launch-order.ts";
import { hostOf } from "./reconcile.ts";

/** The problems of what is in force, with the circles of supervisors on every host; sorted by place. */
export function checkCatalog({ agents, problems }: InForce, thisHost: string): Problem[] {
  const hosts = Map.groupBy(agents, ({ entry }) => hostOf(entry.declaration, thisHost));
  const circles = [...hosts.values()].flatMap(cycleProblems);
  return sortProblems([...problems, ...circles, ...unknownSupervisors(agents)]);
}

/** A supervisor that no file declares is no obstacle, and most often a typing mistake. */
function unknownSupervisors(agents: readonly AgentInForce[]): Problem[] {
  const declared = new Set(agents.map(({ entry }) => entry.declaration.identity));
  return agents.flatMap(({ entry: { declaration, path } }) => {
    const { supervisor } = declaration;
    if (supervisor === null || declared.has(supervisor)) return [];
    const message = `its supervisor "${supervisor}" is declared nowhere in this catalog`;
    return [{ severity: "warning" as const, path, line: null, message }];
  });
}

function cycleProblems(agents: readonly AgentInForce[]): Problem[] {
  const { cycles } = planLaunchOrder(agents.map(({ entry }) => entry.declaration));
  return cycles.map((cycle) => cycleProblem(cycle, agents));
}

/** A warning for a circle of supervisors among `agents`, at the first of its members by name. */
export function cycleProblem(cycle: SupervisorCycle, agents: readonly AgentInForce[]): Problem {
  const first = agents.find(({ entry }) => entry.declaration.identity === cycle.members[0]);
  return { severity: "warning", path: first?.entry.path ?? "", line: null, message: cycle.message };
}

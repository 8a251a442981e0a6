/** Which workspaces one bring-up trusts: all declared for this host and not retired, and every running agent's. */
import { agentEnvironment } from "../environment.ts";
import { agentHere } from "../in-force.ts";
import type { SessionSpec } from "../ledger.ts";
import { liveOf } from "../reconcile.ts";
import type { World } from "../world.ts";
import type { FactsPort, PassSettings, TrustRequest } from "./ports.ts";

/** One request per workspace and environment; folders that are not there yet are left out. */
export function trustRequests(world: World, settings: PassSettings, facts: FactsPort): TrustRequest[] {
  const byName = new Map(world.sessions.map((session) => [session.name, session]));
  const requests = new Map<string, TrustRequest>();
  const add = (
    harness: TrustRequest["harness"],
    spec: SessionSpec,
    baseEnv: Readonly<Record<string, string>>,
  ) => {
    if (spec.task === "ding" && !spec.main) return;
    const env = agentEnvironment(baseEnv, spec);
    const key = [harness, spec.cwd, env.HOME, env.CLAUDE_CONFIG_DIR, env.CODEX_HOME].join("\0");
    if (!requests.has(key) && facts.isDirectory(spec.cwd))
      requests.set(key, { harness, workspace: spec.cwd, env });
  };
  for (const agent of world.inForce.agents) {
    const { declaration } = agent.entry;
    if (!agentHere(agent, world.host) || declaration.retired) continue;
    for (const spec of agent.specs)
      add(declaration.harness, spec, byName.get(spec.name)?.ledger?.baseEnv ?? settings.baseEnv);
  }
  for (const { ledger } of liveOf(world.sessions)) {
    const declaration = ledger?.declaration?.declaration;
    if (ledger != null && declaration !== undefined) add(declaration.harness, ledger.spec, ledger.baseEnv);
  }
  return [...requests.values()];
}

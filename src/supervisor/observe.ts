/** Reads the world once, for one pass or one look. Nothing is changed. */

import type { CatalogReading } from "../catalog-reading.ts";
import type { Problem } from "../declaration.ts";
import { agentEnvironment, lookupPath } from "../environment.ts";
import { type AgentInForce, agentHere, type InForce, planInForce } from "../in-force.ts";
import type { SessionSpec } from "../ledger.ts";
import type { ObservedSession } from "../session.ts";
import type { Lacking, Trigger, World } from "../world.ts";
import type { CatalogPort, PassPorts, PassSettings, RegistryReading } from "./ports.ts";

export type ObservePorts = Pick<PassPorts, "catalog" | "registry" | "facts" | "clock" | "boot">;

/** The catalog first: reading it may wait for a file to become still, and liveness should be fresh. */
export async function observe(ports: ObservePorts, settings: PassSettings, trigger: Trigger): Promise<World> {
  const catalog = await ports.catalog.read();
  const registry = await ports.registry.read();
  const holds = await ports.registry.readHolds();
  const ledgers = registry.sessions
    .map((session) => session.ledger ?? null)
    .filter((ledger) => ledger !== null);
  const { network, host, home } = settings;
  const found = planInForce({ catalog, ledgers, thisHost: host, network: network.root, home });
  const problems = await locateProblems(found.problems, catalog, ports.catalog);
  const inForce = { ...found, problems: [...problems, ...registryProblems(registry)] };
  const sessions = [...registry.sessions, ...(await findUnlisted(inForce, registry, ports, settings))];
  return {
    network: network.root,
    host,
    now: ports.clock.now(),
    trigger,
    boot: ports.boot,
    inForce,
    sessions,
    holds,
    lacking: findLacking(inForce.agents, sessions, ports, settings),
    ...(settings.fastFailWindow === undefined ? {} : { fastFailWindow: settings.fastFailWindow }),
    ...(settings.fastFailLimit === undefined ? {} : { fastFailLimit: settings.fastFailLimit }),
  };
}

/** Declared sessions whose files are all gone while processes of theirs run; their tags are those of a launch. */
async function findUnlisted(
  { agents }: InForce,
  { sessions }: RegistryReading,
  { registry }: ObservePorts,
  { host }: PassSettings,
): Promise<ObservedSession[]> {
  const listed = new Set(sessions.map(({ name }) => name));
  const declared = agents.filter((agent) => agentHere(agent, host)).flatMap((agent) => agent.specs);
  const tags = new Map(
    declared.filter(({ name }) => !listed.has(name)).map(({ name, tags }) => [name, tags]),
  );
  const found = await registry.readUnlisted([...tags.keys()]);
  return found.map((session) => ({ ...session, tags: tags.get(session.name) ?? {} }));
}

/** A problem that is about a whole declaration stands where its identity is written. */
export async function locateProblems(
  problems: readonly Problem[],
  { files }: CatalogReading,
  catalog: Pick<CatalogPort, "locate">,
): Promise<Problem[]> {
  if (problems.every(({ line }) => line !== null)) return [...problems];
  const claiming = new Set(files.filter((file) => file.claimedIdentity !== null).map(({ path }) => path));
  return await Promise.all(
    problems.map(async (problem) => {
      if (problem.line !== null || !claiming.has(problem.path)) return problem;
      return { ...problem, line: await catalog.locate(problem.path) };
    }),
  );
}

function registryProblems(registry: RegistryReading): Problem[] {
  return registry.problems.map(({ file, message }) => {
    return { severity: "warning", path: `pty/${file}`, line: null, message };
  });
}

/** What each session that is not alive would lack, by session id. */
function findLacking(
  agents: readonly AgentInForce[],
  sessions: readonly ObservedSession[],
  ports: ObservePorts,
  settings: PassSettings,
): Map<string, Lacking> {
  const byName = new Map(sessions.map((session) => [session.name, session]));
  const lacking = new Map<string, Lacking>();
  for (const agent of agents) {
    if (!agentHere(agent, settings.host) || agent.entry.declaration.retired) continue;
    for (const spec of agent.specs) {
      const session = byName.get(spec.name);
      if (session?.processAlive === true) continue;
      const found = lackingOf(spec, session, ports, settings);
      if (found.workspace !== null || found.binary !== null) lacking.set(spec.name, found);
    }
  }
  return lacking;
}

function lackingOf(
  spec: SessionSpec,
  session: ObservedSession | undefined,
  { facts }: ObservePorts,
  settings: PassSettings,
): Lacking {
  const creatable = isUnder(spec.cwd, settings.network.worktrees);
  const workspace = creatable || facts.isDirectory(spec.cwd) ? null : spec.cwd;
  if (spec.binary === null) return { workspace, binary: null };
  const env = agentEnvironment(session?.ledger?.baseEnv ?? settings.baseEnv, spec);
  const path = lookupPath(env);
  const found = facts.isExecutable(spec.binary, path);
  return { workspace, binary: found ? null : { name: spec.binary, path } };
}

/** Whether convoy may create this folder: it is `worktrees/` or below. */
export function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

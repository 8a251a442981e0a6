/** The programs that the agents of this host need, looked up as they will be. */

import type { Check } from "../doctor.ts";
import { agentEnvironment, lookupPath } from "../environment.ts";
import { HARNESSES } from "../harness.ts";
import { agentHere } from "../in-force.ts";
import { findProgram, readVersion } from "../machine/state.ts";
import { checkHarnesses, checkProgram } from "../program-checks.ts";
import type { CommandContext } from "./command.ts";
import type { Look } from "./look.ts";

const HARNESS_PROGRAMS = Object.values(HARNESSES).map(({ binary }) => binary);
/** What is run with `--version`. A program that somebody put in a harness's place might do who knows what. */
const KNOWN = [...HARNESS_PROGRAMS, "st"];

interface Needed {
  readonly name: string;
  readonly searched: string;
  readonly agents: string[];
}

/** `servicePath`: on which a service looks for what has never run before; null where there is no service. */
export async function checkPrograms(
  look: Look | null,
  servicePath: string | null,
  { env }: Pick<CommandContext, "env">,
): Promise<Check[]> {
  const needed = look === null ? [] : neededPrograms(look, servicePath);
  const harnesses = needed.filter(({ name }) => name !== "st");
  const searched = env.PATH ?? "";
  const others = harnesses.length > 0 ? [] : HARNESS_PROGRAMS.map((name) => ({ name, searched, agents: [] }));
  const found = await Promise.all([...needed, ...others].map((one) => find(one, env)));
  const checks = found.slice(0, needed.length).map(checkProgram);
  return needed.length > 0 && harnesses.length > 0
    ? checks
    : [...checks, checkHarnesses(found.slice(needed.length))];
}

async function find(needed: Needed, env: CommandContext["env"]) {
  const path = findProgram(needed.name, needed.searched);
  const version = path === null || !KNOWN.includes(needed.name) ? null : await readVersion(path, env);
  return { ...needed, path, version };
}

function neededPrograms({ world, settings }: Look, servicePath: string | null): Needed[] {
  const ledgers = new Map(world.sessions.map(({ name, ledger }) => [name, ledger]));
  const base = servicePath === null ? settings.baseEnv : { ...settings.baseEnv, PATH: servicePath };
  const needed = new Map<string, Needed>();
  for (const agent of world.inForce.agents) {
    if (!agentHere(agent, world.host) || agent.entry.declaration.retired) continue;
    for (const spec of agent.specs) {
      if (spec.binary === null) continue;
      const searched = lookupPath(agentEnvironment(ledgers.get(spec.name)?.baseEnv ?? base, spec));
      const key = `${spec.binary}\0${searched}`;
      const one = needed.get(key) ?? { name: spec.binary, searched, agents: [] };
      if (!one.agents.includes(spec.identity)) one.agents.push(spec.identity);
      needed.set(key, one);
    }
  }
  return [...needed.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

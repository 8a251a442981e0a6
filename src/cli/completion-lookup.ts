/** What shell completion offers that only the disk knows: networks, agents, hosts. Nothing is created or waited for. */
import { resolveNetwork } from "../network-name.ts";
import { listFolder, sessionNames } from "../registry/folder.ts";
import type { CommandContext, Completes } from "./command.ts";
import type { Candidate, Expected } from "./complete.ts";
import { type Declared, readDeclared } from "./declared.ts";
import { listNetworkNames } from "./networks.ts";

export type Surroundings = Pick<CommandContext, "env" | "home" | "cwd">;

/** What the shell itself is asked to add: names of files, or of folders. */
export type PathKind = "file" | "directory";

/** A path as it may be begun: a bare word is a name. */
const PATH = /^[.~/]|\//;

/** The words that can stand there, and what kind of path besides. Throws as `readDeclared` does. */
export async function lookUp(
  { completes, typed, network, taken }: Expected,
  around: Surroundings,
): Promise<{ readonly words: readonly Candidate[]; readonly path: PathKind | null }> {
  if (completes === null) return { words: [], path: null };
  if (completes === "file" || completes === "directory") return { words: [], path: completes };
  if (completes === "network") {
    if (PATH.test(typed)) return { words: [], path: "directory" };
    const words = listNetworkNames(around).map((value) => ({ value, about: "network" }));
    return { words, path: null };
  }
  const found = resolveNetwork({ explicit: network, ...around });
  if ("problem" in found) return { words: [], path: null };
  const declared = await readDeclared({ ...around, network: () => found }, { settleMs: 0 });
  const words = namesOf(completes, declared, typed).filter(({ value }) => !taken.includes(value));
  return { words, path: null };
}

function namesOf(completes: Exclude<Completes, PathKind | "network">, declared: Declared, typed: string) {
  switch (completes) {
    case "identity":
      return identities(declared);
    case "host":
      return hosts(declared);
    case "agent":
      return typed.includes(".") ? [...identities(declared), ...longNames(declared)] : identities(declared);
  }
}

function identities({ inForce, ledgers, host }: Declared): Candidate[] {
  const about = new Map<string, string>();
  for (const { identity } of ledgers) about.set(identity, "no declaration");
  for (const { entry, busId } of inForce.agents) {
    const { identity, role, retired } = entry.declaration;
    const elsewhere = busId.startsWith(`${host}.`) ? "" : `, on ${busId.slice(0, busId.indexOf("."))}`;
    about.set(identity, `${retired === true ? "retired " : ""}${role}${elsewhere}`);
  }
  return [...about].map(([value, text]) => ({ value, about: text })).sort(byValue);
}

/** Bus ids and session ids. */
function longNames({ inForce, ledgers, paths }: Declared): Candidate[] {
  const names = new Map<string, string>();
  for (const name of sessionNames("", listFolder(paths.pty), [])) names.set(name, "session");
  for (const { agent, spec } of ledgers) names.set(spec.name, `session of ${agent}`);
  for (const { busId, entry } of inForce.agents) names.set(busId, entry.declaration.role);
  return [...names].map(([value, about]) => ({ value, about })).sort(byValue);
}

function hosts({ inForce, host }: Declared): Candidate[] {
  const others = inForce.agents.map(({ busId }) => busId.slice(0, busId.indexOf(".")));
  return [...new Set([host, ...others])]
    .map((value) => ({ value, about: value === host ? "this machine" : "" }))
    .sort(byValue);
}

function byValue(a: Candidate, b: Candidate): number {
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

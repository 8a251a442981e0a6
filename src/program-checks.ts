/** Checks of what agents need beside convoy: their programs, the sidecar's, credentials. */
import { type Check, fail, pass, unknown } from "./doctor.ts";

/** A program that agents of this host need, as it is looked up for them. */
export interface ProgramFacts {
  readonly name: string;
  /** The search path of the agents that need it. */
  readonly searched: string;
  /** Null when it is not on that path. */
  readonly path: string | null;
  /** What it says of itself, on one line; null where it was not asked or did not say. */
  readonly version: string | null;
  /** Identities, sorted. */
  readonly agents: readonly string[];
}

/** The sidecar's program. */
const SIDECAR = "st";

export function checkProgram({ name, searched, path, version, agents }: ProgramFacts): Check {
  const check = name === SIDECAR ? SIDECAR : `program ${name}`;
  const who = agents.join(", ");
  if (path === null && name === SIDECAR)
    return fail(
      check,
      `not on PATH (${searched}): nothing rings when a message comes for ${who}`,
      `put st on PATH, or declare transport = "mcp"`,
    );
  if (path === null)
    return fail(
      check,
      `not on PATH (${searched}), and ${who} needs it`,
      `install ${name}, or put it on PATH`,
    );
  if (version === null) return unknown(check, `${path}, for ${who}; its version is not known`);
  return pass(check, `${path}, ${version}, for ${who}`);
}

/** Where no agent is declared: which harnesses there would be. */
export function checkHarnesses(found: readonly Pick<ProgramFacts, "name" | "path" | "version">[]): Check {
  const there = found.filter(({ path }) => path !== null);
  const message = there
    .map(({ name, version }) => (version === null ? name : `${name} (${version})`))
    .join(", ");
  if (there.length > 0) return pass("harnesses", `on PATH: ${message}; no agent declared here needs one`);
  const names = found.map(({ name }) => name).join(", ");
  return unknown(
    "harnesses",
    `none of ${names} is on PATH; no agent declared here needs one`,
    "install one of them",
  );
}

/** Names only, never values. `inFile`: those that the service's environment file sets. */
export function checkCredentials(here: readonly string[], inFile: readonly string[]): Check {
  const name = "credentials";
  const parts = [
    ...(here.length === 0 ? [] : [`set here: ${here.join(", ")}`]),
    ...(inFile.length === 0 ? [] : [`in the service's file: ${inFile.join(", ")}`]),
  ];
  if (parts.length > 0) return pass(name, parts.join("; "));
  return unknown(name, "none is set here; a harness may have a login of its own");
}

/** Names that a shell file sets, as far as its lines say. */
export function namesSetIn(text: string): string[] {
  const names = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=/gm)].map(
    ([, name = ""]) => name,
  );
  return [...new Set(names)].sort();
}

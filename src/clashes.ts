/** Declarations that stand in each other's way: one identity, or one session id, in two files (decision 11). */
import type { Problem } from "./declaration.ts";

/** A name that a file lays claim to. */
export interface NameClaim {
  /** Compared in lower case, so that `Worker` freezes `worker`. */
  readonly name: string;
  /** Relative to the catalog. */
  readonly path: string;
}

export interface Clashes {
  /** By path: what the file clashes over, naming every file concerned. */
  readonly reasons: ReadonlyMap<string, string>;
  /** One error for each file of each clash. */
  readonly problems: readonly Problem[];
}

/**
 * Finds the files that share an identity, then those that share a session id. Session ids that clash only because
 * their identities do are not said again. A file claiming one name twice clashes with nobody.
 */
export function findClashes(identities: readonly NameClaim[], sessionIds: readonly NameClaim[]): Clashes {
  const reasons = new Map<string, string>();
  const problems: Problem[] = [];
  const clash = (what: string, paths: readonly string[]) => {
    const message = `${what} is declared in ${paths.join(" and ")}: keep one of them; neither is acted on`;
    for (const path of paths) {
      reasons.set(path, message);
      problems.push({ severity: "error", path, line: null, message });
    }
  };
  for (const [identity, paths] of shared(identities)) clash(`identity "${identity}"`, paths);
  for (const [name, paths] of shared(sessionIds)) {
    if (!paths.every((path) => reasons.has(path))) clash(`session id "${name}"`, paths);
  }
  return { reasons, problems };
}

/** The names that more than one file claims, with the files in the order of the claims. */
function shared(claims: readonly NameClaim[]): [string, readonly string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const { name, path } of claims) {
    const folded = name.toLowerCase();
    const paths = groups.get(folded);
    if (paths === undefined) groups.set(folded, new Set([path]));
    else paths.add(path);
  }
  return [...groups].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, [...paths]]);
}

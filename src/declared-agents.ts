/** The one declaration that a person means, for commands that edit it. */
import type { CatalogReading } from "./catalog-reading.ts";
import type { AgentInForce, InForce } from "./in-force.ts";
import { nearest } from "./nearest.ts";

export type FoundDeclaration =
  | { readonly kind: "found"; readonly agent: AgentInForce }
  /** It is there and must not be edited: `message` says why, naming the files; `next` what to type. */
  | { readonly kind: "frozen"; readonly message: string; readonly next: string | null }
  | { readonly kind: "ambiguous"; readonly busIds: readonly string[] }
  | { readonly kind: "unknown"; readonly nearest: string | null };

/**
 * Looks `ref` up as an identity, a bus id or a session id. Frozen are clashes (decision 11), declarations that do not
 * count because their file is broken, and agents whose file is gone.
 */
export function findDeclaration(ref: string, catalog: CatalogReading, inForce: InForce): FoundDeclaration {
  const meant = inForce.agents.filter((agent) => namesOf(agent).includes(ref));
  const conflict = meant.find((agent) => agent.conflict !== null)?.conflict;
  if (conflict != null) return frozen(conflict, null);
  if (meant.length > 1) return { kind: "ambiguous", busIds: meant.map(({ busId }) => busId) };
  const [agent] = meant;
  if (agent === undefined) return withoutEntry(ref, catalog, inForce);
  const { identity } = agent.entry.declaration;
  switch (agent.source) {
    case "catalog":
      return { kind: "found", agent };
    case "last-good":
      return frozen(
        `${agent.entry.path} has an error, so that the last good declaration of ${identity} counts in its place: mend it first`,
        "convoy validate",
      );
    case "ledger":
      return frozen(
        `no file declares ${identity} any more (${agent.entry.path} did)`,
        `convoy down --agent ${identity}`,
      );
  }
}

function namesOf({ entry, busId, specs }: AgentInForce): string[] {
  return [entry.declaration.identity, busId, ...specs.map(({ name }) => name)];
}

/** A file that claims the identity and declares nothing: it has an error. Else nothing is known under this name. */
function withoutEntry(ref: string, catalog: CatalogReading, inForce: InForce): FoundDeclaration {
  const claiming = catalog.files.filter(({ claimedIdentity }) => claimedIdentity?.toLowerCase() === ref);
  if (claiming.length > 0) {
    const paths = claiming.map(({ path }) => path);
    const verb = paths.length === 1 ? "has an error: mend it" : "have errors: mend them";
    return frozen(`${paths.join(" and ")} ${verb} first`, "convoy validate");
  }
  const names = new Set([
    ...inForce.agents.flatMap(namesOf),
    ...catalog.files.flatMap(({ claimedIdentity }) => claimedIdentity ?? []),
  ]);
  return { kind: "unknown", nearest: nearest(ref, [...names]) };
}

function frozen(message: string, next: string | null): FoundDeclaration {
  return { kind: "frozen", message, next };
}

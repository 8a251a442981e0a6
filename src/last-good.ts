/** What the ledgers remember of declarations: the last good version of each (decisions 1 and 10). */
import type { Ledger, LedgerDeclaration } from "./ledger.ts";

export interface RememberedAgent {
  /** Of its newest launch that kept one. */
  readonly declaration: LedgerDeclaration | null;
  /** Decision 1: convoy ran it here, and nobody ended it on purpose. */
  readonly recoverable: boolean;
}

export interface LastGood {
  readonly byPath: ReadonlyMap<string, LedgerDeclaration>;
  readonly byIdentity: ReadonlyMap<string, LedgerDeclaration>;
  readonly byBusId: ReadonlyMap<string, RememberedAgent>;
}

/** The newest launch's declaration for every path, every identity and every agent. */
export function indexLastGood(ledgers: readonly Ledger[]): LastGood {
  const byPath = new Map<string, LedgerDeclaration>();
  const byIdentity = new Map<string, LedgerDeclaration>();
  const byBusId = new Map<string, RememberedAgent>();
  for (const ledger of [...ledgers].sort(newestFirst)) {
    const { declaration, agent, endedBy } = ledger;
    const known = byBusId.get(agent);
    byBusId.set(agent, {
      declaration: known?.declaration ?? declaration,
      recoverable: (known?.recoverable ?? true) && (endedBy === null || endedBy === "restart"),
    });
    if (declaration === null) continue;
    if (!byPath.has(declaration.path)) byPath.set(declaration.path, declaration);
    const { identity } = declaration.declaration;
    if (!byIdentity.has(identity)) byIdentity.set(identity, declaration);
  }
  return { byPath, byIdentity, byBusId };
}

function newestFirst(a: Ledger, b: Ledger): number {
  if (a.launchedAt === b.launchedAt) return 0;
  return a.launchedAt < b.launchedAt ? 1 : -1;
}

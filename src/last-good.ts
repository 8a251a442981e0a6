/** What the ledgers remember of declarations: the last good version of each (decisions 1 and 10). */
import type { Ledger, LedgerDeclaration } from "./ledger.ts";

export interface LastGood {
  readonly byPath: ReadonlyMap<string, LedgerDeclaration>;
  readonly byIdentity: ReadonlyMap<string, LedgerDeclaration>;
}

/** The newest launch's declaration for every path and every identity. */
export function indexLastGood(ledgers: readonly Ledger[]): LastGood {
  const byPath = new Map<string, LedgerDeclaration>();
  const byIdentity = new Map<string, LedgerDeclaration>();
  const newestFirst = [...ledgers].sort((a, b) => Number(a.launchedAt < b.launchedAt) * 2 - 1);
  for (const { declaration } of newestFirst) {
    if (declaration === null) continue;
    if (!byPath.has(declaration.path)) byPath.set(declaration.path, declaration);
    const { identity } = declaration.declaration;
    if (!byIdentity.has(identity)) byIdentity.set(identity, declaration);
  }
  return { byPath, byIdentity };
}

/** The last good declaration of the newest launch of an agent; null when none was kept. */
export function lastGoodOf(busId: string, ledgers: readonly Ledger[]): LedgerDeclaration | null {
  let newest: Ledger | null = null;
  for (const ledger of ledgers) {
    if (ledger.agent !== busId || ledger.declaration === null) continue;
    if (newest === null || ledger.launchedAt > newest.launchedAt) newest = ledger;
  }
  return newest?.declaration ?? null;
}

/** Decision 1: convoy ran it here, and nobody ended it on purpose. */
export function mayBeRecovered(busId: string, ledgers: readonly Ledger[]): boolean {
  const own = ledgers.filter((ledger) => ledger.agent === busId);
  return own.length > 0 && own.every((ledger) => ledger.endedBy === null || ledger.endedBy === "restart");
}

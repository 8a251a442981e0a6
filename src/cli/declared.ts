/** What is declared in a network, without a look at any process: for the commands that are about declarations. */
import { readCatalog } from "../catalog/read.ts";
import type { CatalogReading } from "../catalog-reading.ts";
import { type InForce, planInForce } from "../in-force.ts";
import type { Ledger } from "../ledger.ts";
import { readLedgerFile } from "../registry/files.ts";
import { listLedgerNames } from "../registry/folder.ts";
import { readHostName } from "../registry/host-name.ts";
import { type NetworkPaths, sessionPaths } from "../system/paths.ts";
import type { CommandContext } from "./command.ts";
import { requireNetwork } from "./network.ts";

export interface Declared {
  readonly paths: NetworkPaths;
  /** This machine's name in force. */
  readonly host: string;
  readonly catalog: CatalogReading;
  readonly ledgers: readonly Ledger[];
  readonly inForce: InForce;
}

/** Throws "not-found" for a network that is not there. `settleMs`: see `readCatalog`. */
export async function readDeclared(
  context: Pick<CommandContext, "network" | "env" | "home">,
  { settleMs }: { readonly settleMs?: number } = {},
): Promise<Declared> {
  const paths = requireNetwork(context.network());
  const { host } = readHostName(paths, { override: context.env.CONVOY_HOST });
  const catalog = await readCatalog({
    catalogDir: paths.catalog,
    ...(settleMs === undefined ? {} : { settleMs }),
  });
  const ledgers = readLedgers(paths.pty);
  const inForce = planInForce({
    catalog,
    ledgers,
    thisHost: host,
    network: paths.root,
    home: context.home,
  });
  return { paths, host, catalog, ledgers, inForce };
}

/** Those that can be read; one that cannot says nothing about declarations. */
function readLedgers(registry: string): Ledger[] {
  return listLedgerNames(registry).flatMap((name) => {
    const { parsed } = readLedgerFile(sessionPaths(registry, name).ledger);
    return parsed === null ? [] : [parsed.ledger];
  });
}

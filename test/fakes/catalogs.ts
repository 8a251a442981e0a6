/** Catalogs as they are read, ledgers of what ran from them, and a line for each thing in force: for table tests. */
import type { CatalogFile, CatalogReading } from "../../src/catalog-reading.ts";
import type { Declaration, Problem } from "../../src/declaration.ts";
import { type InForce, planInForce } from "../../src/in-force.ts";
import type { Ledger } from "../../src/ledger.ts";
import { declarationOf } from "../generators/declarations.ts";
import { ledgerFixture } from "./ledgers.ts";

type Over = Partial<Declaration>;

/** A file that declares `identity` for this host, in its own words. */
export function good(path: string, identity: string, over: Over = {}): CatalogFile {
  const declaration = declarationOf({ identity, host: "box", ...over });
  return { path, claimedIdentity: identity, entry: { declaration, path }, hostWritten: true, parsed: true };
}

export function without(path: string, over: Partial<CatalogFile> = {}): CatalogFile {
  return { path, claimedIdentity: null, entry: null, hostWritten: false, parsed: true, ...over };
}

export const unparsed = (path: string) => without(path, { parsed: false });
export const emptied = (path: string) => without(path);
export const error = (path: string, message = "is broken"): Problem => ({
  severity: "error",
  path,
  line: null,
  message,
});

/** What ran here from `path`. */
export function ran(identity: string, path: string, over: Partial<Ledger> = {}, declared: Over = {}): Ledger {
  const declaration = declarationOf({ identity, host: "box", ...declared });
  return ledgerFixture(`box.${identity}`, {
    agent: `box.${identity}`,
    identity,
    declaration: { path, hostWritten: true, declaration },
    ...over,
  });
}

export interface Scene {
  readonly files?: readonly CatalogFile[];
  readonly problems?: readonly Problem[];
  readonly ledgers?: readonly Ledger[];
  readonly state?: CatalogReading["state"];
  readonly network?: string;
}

export function inForce({
  files = [],
  problems = [],
  ledgers = [],
  state = "read",
  network = "/n",
}: Scene): InForce {
  const catalog = { state, files, problems };
  return planInForce({ catalog, ledgers, thisHost: "box", network, home: "/h" });
}

/** `busId source path`, then what is special about it. */
export function rows({ agents }: InForce): string[] {
  return agents.map(({ busId, source, entry, conflict, recoverable }) =>
    [
      `${busId} ${source} ${entry.path}`,
      ...(conflict === null ? [] : ["conflict"]),
      ...(recoverable ? [] : ["not recoverable"]),
    ].join(", "),
  );
}

export function said({ problems }: InForce): string[] {
  return problems.map(({ severity, path, line, message }) => `${severity} ${path}:${line} ${message}`);
}

export const stays = (path: string, identity: string) =>
  `warning ${path}:null its last good declaration (${identity}) stays in force`;
export const broken = (path: string) => `error ${path}:null is broken`;

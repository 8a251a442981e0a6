/**
 * Which declarations are in force on this machine: what the catalog says, with the last good version standing in
 * for a file that broke (contract, decisions 1, 4, 10), and clashes frozen (decision 11).
 */
import type { CatalogFile, CatalogReading } from "./catalog-reading.ts";
import { findClashes } from "./clashes.ts";
import type { CatalogEntry, Problem } from "./declaration.ts";
import { shortHost } from "./identity.ts";
import { indexLastGood, type LastGood } from "./last-good.ts";
import { compileSessions, type LaunchContext } from "./launch-spec.ts";
import type { Ledger, LedgerDeclaration, SessionSpec } from "./ledger.ts";
import { agentBusId, hostOf } from "./reconcile.ts";
import { sessionNameProblems } from "./session-names.ts";

/** Where a declaration in force comes from: its file, its last good version, or the ledger alone. */
export type Source = "catalog" | "last-good" | "ledger";

export interface AgentInForce {
  readonly entry: CatalogEntry;
  readonly source: Source;
  readonly hostWritten: boolean;
  readonly busId: string;
  /** What it compiles to; another host's too, for clashes. */
  readonly specs: readonly SessionSpec[];
  /** Frozen: another file claims the same identity or session id. The text names the files. */
  readonly conflict: string | null;
  /** Under a conflict or a broken file: may be recovered, because convoy ran it here (decision 1). */
  readonly recoverable: boolean;
}

export interface InForce {
  /** Sorted by identity, then path. */
  readonly agents: readonly AgentInForce[];
  readonly problems: readonly Problem[];
  /** Bus ids whose session runs or ran here and that nothing in force declares. */
  readonly undeclared: ReadonlySet<string>;
}

export interface InForceInput {
  readonly catalog: CatalogReading;
  /** Ledgers of every session in the registry. */
  readonly ledgers: readonly Ledger[];
  readonly thisHost: string;
  /** Absolute root of the network. */
  readonly network: string;
  readonly home: string;
}

interface Context extends InForceInput {
  readonly hosts: ReadonlyMap<string, string | null>;
  readonly lastGood: LastGood;
  /** Identities that files claim in so many words, lower case. */
  readonly written: ReadonlySet<string>;
  /** Paths with an error of their own. */
  readonly faulty: ReadonlySet<string>;
}

interface Claim {
  readonly file: CatalogFile;
  /** Lower case, so that `Worker` freezes `worker`. */
  readonly identity: string;
  readonly entry: CatalogEntry | null;
  /** What the entry compiles to. */
  readonly specs: readonly SessionSpec[];
  readonly source: Source;
  readonly hostWritten: boolean;
}

/** Computes what is in force; each declaration is compiled once, here. */
export function planInForce(given: InForceInput): InForce {
  const input = contextOf(given);
  const problems: Problem[] = [...input.catalog.problems];
  const claims = input.catalog.files.map((file) => claimOf(file, input, problems));
  const claimed = claims.filter((claim) => claim !== null);
  const agents = claimed.flatMap((claim) => agentOf(claim, input));
  const frozen = freezeClashes(agents, claimed, input, problems);
  const known = new Set(claimed.map((claim) => claim.identity));
  const fromLedger = recoverable(known, input, problems);
  const all = [...frozen, ...fromLedger].sort(byIdentity);
  const declared = new Set(all.map((agent) => agent.busId));
  const undeclared = new Set(
    input.ledgers.map((ledger) => ledger.agent).filter((busId) => !declared.has(busId)),
  );
  return { agents: all, problems: sortProblems(problems), undeclared };
}

function contextOf(given: InForceInput): Context {
  const { files, problems } = given.catalog;
  return {
    ...given,
    hosts: hostsOf(given),
    lastGood: indexLastGood(given.ledgers),
    written: new Set(files.flatMap(({ claimedIdentity }) => claimedIdentity?.toLowerCase() ?? [])),
    faulty: new Set(problems.filter(({ severity }) => severity === "error").map(({ path }) => path)),
  };
}

/** Where each identity is declared, so that a supervisor on another host is named by its own bus id. */
function hostsOf({ catalog, thisHost }: InForceInput): Map<string, string | null> {
  const entries = catalog.files.map((file) => file.entry).filter((entry) => entry !== null);
  return new Map(entries.map(({ declaration }) => [declaration.identity, hostOf(declaration, thisHost)]));
}

/** What one file claims; null when it declares nothing and never did. */
function claimOf(file: CatalogFile, input: Context, problems: Problem[]): Claim | null {
  const before = input.lastGood.byPath.get(file.path) ?? null;
  const specs = file.entry === null ? null : compileChecked(file.entry, input, problems);
  const entry = specs === null ? null : file.entry;
  const lostHost = entry !== null && !file.hostWritten && before?.hostWritten === true;
  const movedByLoss = lostHost && before?.declaration.identity === entry.declaration.identity;
  if (entry !== null && specs !== null && !movedByLoss) {
    const { identity } = entry.declaration;
    return { file, identity, entry, specs, source: "catalog", hostWritten: file.hostWritten };
  }
  const identity = file.claimedIdentity?.toLowerCase() ?? null;
  const stand = before ?? (identity === null ? null : (input.lastGood.byIdentity.get(identity) ?? null));
  if (stand === null) return identity === null ? null : claimWithout(file, identity);
  const name = stand.declaration.identity;
  const emptied = isEmptied(file, input);
  // Moved into another file, which is now the one to ask.
  if (emptied && input.written.has(name)) return null;
  problems.push({ path: file.path, ...standInProblem(stand, { lostHost, emptied }) });
  const declared = { declaration: stand.declaration, path: file.path };
  const { hostWritten } = stand;
  const stood = compileSessions(declared.declaration, launchContext(declared, input));
  return { file, identity: name, entry: declared, specs: stood, source: "last-good", hostWritten };
}

/** It reads well and declares nothing, so that nobody has found an error in it. */
function isEmptied(file: CatalogFile, { faulty }: Context): boolean {
  return file.parsed && file.claimedIdentity === null && !faulty.has(file.path);
}

/** What to say of a file whose last good version counts in its place (decision 10); a broken one has its own error. */
function standInProblem(
  { declaration }: LedgerDeclaration,
  { lostHost, emptied }: { readonly lostHost: boolean; readonly emptied: boolean },
): Omit<Problem, "path"> {
  const { identity, host } = declaration;
  const stays = `its last good declaration (${identity}) stays in force`;
  if (lostHost) {
    const message = `has lost "host", which its last good version had: write host = "${host}" back; ${stays} until then`;
    return { severity: "error", line: 1, message };
  }
  if (!emptied) return { severity: "warning", line: null, message: stays };
  const message = `declares nothing any more, neither identity nor role: ${stays}; write it back, or end the agent with \`convoy down --agent ${identity}\``;
  return { severity: "error", line: 1, message };
}

function claimWithout(file: CatalogFile, identity: string): Claim {
  return { file, identity, entry: null, specs: [], source: "catalog", hostWritten: file.hostWritten };
}

/** Null, with a problem, for an entry of this host whose sessions could never have a socket in this network. */
function compileChecked(entry: CatalogEntry, input: Context, problems: Problem[]): SessionSpec[] | null {
  const specs = compileSessions(entry.declaration, launchContext(entry, input));
  if (!isHere(entry, input.thisHost)) return specs;
  const found = sessionNameProblems(
    input.network,
    specs.map(({ name }) => name),
  );
  for (const message of found) problems.push({ severity: "error", path: entry.path, line: null, message });
  return found.length === 0 ? specs : null;
}

function launchContext({ declaration }: CatalogEntry, input: Context): LaunchContext {
  const { network, home, hosts } = input;
  const host = hostOf(declaration, input.thisHost);
  return { network, home, host, hostOf: (identity) => hosts.get(identity) ?? null };
}

function agentOf({ entry, specs, source, hostWritten }: Claim, input: Context): AgentInForce[] {
  return entry === null ? [] : [asInForce(entry, specs, source, hostWritten, input)];
}

function compileEntry(
  entry: CatalogEntry,
  source: Source,
  hostWritten: boolean,
  input: Context,
): AgentInForce {
  const specs = compileSessions(entry.declaration, launchContext(entry, input));
  return asInForce(entry, specs, source, hostWritten, input);
}

function asInForce(
  entry: CatalogEntry,
  specs: readonly SessionSpec[],
  source: Source,
  hostWritten: boolean,
  { thisHost }: Context,
): AgentInForce {
  const busId = agentBusId(entry.declaration, thisHost);
  return { entry, source, hostWritten, busId, specs, conflict: null, recoverable: source === "catalog" };
}

/** Marks every agent whose identity or session id another file claims too, and says so once per clash. */
function freezeClashes(
  agents: readonly AgentInForce[],
  claims: readonly Claim[],
  input: Context,
  problems: Problem[],
): AgentInForce[] {
  const clashes = findClashes(
    claims.map(({ identity, file }) => ({ name: identity, path: file.path })),
    agents.flatMap(({ specs, entry }) => specs.map(({ name }) => ({ name, path: entry.path }))),
  );
  problems.push(...clashes.problems);
  const marked = agents.map((agent): AgentInForce => {
    const conflict = clashes.reasons.get(agent.entry.path) ?? null;
    return conflict === null && agent.source === "catalog"
      ? agent
      : { ...agent, conflict, recoverable: mayBeRecovered(agent.busId, input) };
  });
  return oneRowPerClash(marked, input);
}

function mayBeRecovered(busId: string, { lastGood }: Context): boolean {
  return lastGood.byBusId.get(busId)?.recoverable ?? false;
}

/** Two files that claim one agent make one row; what it compiles to comes from the ledger, when it ran here. */
function oneRowPerClash(agents: readonly AgentInForce[], input: Context): AgentInForce[] {
  const seen = new Set<string>();
  const rows: AgentInForce[] = [];
  for (const agent of agents) {
    if (agent.conflict === null) {
      rows.push(agent);
      continue;
    }
    if (seen.has(agent.busId)) continue;
    seen.add(agent.busId);
    const { busId, conflict, recoverable } = agent;
    const last = input.lastGood.byBusId.get(busId)?.declaration ?? null;
    if (last === null) {
      rows.push(agent);
      continue;
    }
    const entry = { declaration: last.declaration, path: agent.entry.path };
    rows.push({ ...compileEntry(entry, "last-good", last.hostWritten, input), busId, conflict, recoverable });
  }
  return rows;
}

/** Agents that ran here and that no file claims any more: recovered from the ledger, and said. */
function recoverable(claimed: ReadonlySet<string>, input: Context, problems: Problem[]): AgentInForce[] {
  const agents: AgentInForce[] = [];
  for (const [busId, remembered] of input.lastGood.byBusId) {
    const last = remembered.declaration;
    if (last === null || claimed.has(last.declaration.identity)) continue;
    const { declaration, path } = last;
    const active =
      !declaration.retired &&
      hostOf(declaration, input.thisHost) === shortHost(input.thisHost) &&
      busId === agentBusId(declaration, input.thisHost);
    if (!active || !remembered.recoverable) continue;
    const { identity } = declaration;
    const message = `no longer declares ${identity}: what runs is kept, and recovered from its last good declaration; to end it, \`convoy down --agent ${identity}\``;
    problems.push({ severity: "warning", path, line: null, message });
    agents.push({
      ...compileEntry({ declaration, path }, "ledger", last.hostWritten, input),
      recoverable: true,
    });
  }
  return agents;
}

function byIdentity(a: AgentInForce, b: AgentInForce): number {
  return (
    compare(a.entry.declaration.identity, b.entry.declaration.identity) || compare(a.entry.path, b.entry.path)
  );
}

/** By path, then line, then text. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return [...problems].sort(
    (a, b) => compare(a.path, b.path) || (a.line ?? 0) - (b.line ?? 0) || compare(a.message, b.message),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether an agent is declared for this machine. */
export function agentHere(agent: AgentInForce, thisHost: string): boolean {
  return isHere(agent.entry, thisHost);
}

function isHere({ declaration }: CatalogEntry, thisHost: string): boolean {
  return hostOf(declaration, thisHost) === shortHost(thisHost);
}

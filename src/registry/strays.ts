/**
 * Looks in the process table for what runs of a session beside what its files tell: its host by command line
 * (`__session-host <registry> <name>`), the host of pty's program by what that puts into its environment, the agent's
 * program by `PTY_SESSION` and the folder of its network.
 */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import { hostLineOf, type Marks, marksOf } from "../process-marks.ts";
import type { ProcessIdentity } from "../session.ts";
import type { Strays } from "../session-facts.ts";
import { type ProcessRow, type ProcessTable, startTimeMs } from "../system/processes.ts";

/** How far a wall clock may have moved between a launch and the birth it caused, and the two still be compared. */
const CLOCK_SLACK_MS = 60_000;

export interface StraySearch {
  readonly name: string;
  /** Owner of the registry's files: only this user's processes can be the session's. */
  readonly owner: number;
  /** ISO 8601; processes born clearly before it are an earlier run's. Null takes every one. */
  readonly launchedAt: string | null;
  /** The recorded host, before which no child of it can have been born. */
  readonly host: ProcessIdentity | null;
}

/** Living processes of one registry's sessions, by session id. */
interface Found {
  readonly hosts: Map<string, ProcessRow[]>;
  readonly ptyHosts: Map<string, ProcessRow[]>;
  readonly programs: Map<string, ProcessRow[]>;
}

/** One look at every process; made only when a search needs it, and shared by all searches of a reading. */
export function createStrayFinder(registry: string, table: ProcessTable): (search: StraySearch) => Strays {
  let found: Found | null = null;
  return (search) => {
    const user = process.getuid?.() ?? 0;
    if (user !== 0 && user !== search.owner) return { state: "cannot-tell" };
    found ??= lookAtAll(registry, table);
    const { hosts, ptyHosts, programs } = found;
    const ofRun = (rows: readonly ProcessRow[] = []) => rows.filter((row) => mayBelong(row, search));
    const marked = programs.get(search.name) ?? [];
    const ptyHost = ptyHosts.get(search.name)?.at(-1);
    return {
      state: "searched",
      host: identity(ofRun(hosts.get(search.name))[0]),
      child: identity(topmost(ofRun(marked))),
      ptyHost: ptyHost === undefined ? null : identity(ptyHost),
      ptyChildPid: marked.find((row) => row.parent === ptyHost?.pid)?.pid ?? null,
    };
  };
}

function lookAtAll(registry: string, table: ProcessTable): Found {
  const real = rememberedRealPath();
  const own = { registry: real(registry), stRoot: real(join(dirname(registry), "smalltalk")) };
  const isOurs = (path: string) => real(path) === own.registry;
  const found: Found = { hosts: new Map(), ptyHosts: new Map(), programs: new Map() };
  for (const row of table.rows()) {
    if (row.zombie || row.pid === process.pid) continue;
    const host = hostLineOf(table.commandLine(row.pid));
    if (host !== null && isOurs(host.registry)) append(found.hosts, host.session, row);
    const marks = marksOf(table.environment(row.pid));
    if (marks.ptyHostOf !== null) {
      if (marks.registries.some(isOurs)) append(found.ptyHosts, marks.ptyHostOf, row);
    } else if (marks.session !== null && isOfNetwork(marks, own, real))
      append(found.programs, marks.session, row);
  }
  return found;
}

/** `ST_ROOT` names the network; what pty's program started outside of `convoy env` may name the registry alone. */
function isOfNetwork(
  { stRoot, registries }: Marks,
  own: { registry: string; stRoot: string },
  real: (path: string) => string,
): boolean {
  if (stRoot !== null) return real(stRoot) === own.stRoot;
  return registries.some((path) => real(path) === own.registry);
}

function append(lists: Map<string, ProcessRow[]>, name: string, row: ProcessRow): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [row]);
  else list.push(row);
}

function mayBelong(row: ProcessRow, search: StraySearch): boolean {
  if (search.host !== null && Number(row.start) < Number(search.host.start)) return false;
  if (search.launchedAt === null) return true;
  const born = startTimeMs(row);
  return born === null || born > Date.parse(search.launchedAt) - CLOCK_SLACK_MS;
}

/** The marked process that no other marked one started. */
function topmost(marked: readonly ProcessRow[]): ProcessRow | undefined {
  const pids = new Set(marked.map((row) => row.pid));
  return marked.find((row) => !pids.has(row.parent));
}

function identity(row: ProcessRow | undefined): ProcessIdentity | null {
  return row === undefined ? null : { pid: row.pid, start: row.start };
}

/** A path as the kernel knows it; as it is spelled where it leads nowhere. */
function rememberedRealPath(): (path: string) => string {
  const known = new Map<string, string>();
  return (path) => {
    const real = known.get(path) ?? realPath(path);
    known.set(path, real);
    return real;
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

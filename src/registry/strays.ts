/**
 * Looks in the process table for what a session started and no ledger tells of: its host by command line
 * (`__session-host <registry> <name>`), its program by the `PTY_SESSION` and `ST_ROOT` in its environment.
 */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import type { Strays } from "../liveness.ts";
import type { ProcessIdentity } from "../session.ts";
import { type ProcessRow, type ProcessTable, startTimeMs } from "../system/processes.ts";

/** How far a wall clock may have moved between a launch and the birth it caused, and the two still be compared. */
const CLOCK_SLACK_MS = 60_000;

export interface StraySearch {
  readonly registry: string;
  readonly name: string;
  /** Owner of the registry's files: only this user's processes can be the session's. */
  readonly owner: number;
  /** ISO 8601; processes born clearly before it are an earlier run's. Null takes every one. */
  readonly launchedAt: string | null;
  /** The recorded host, before which no child of it can have been born. */
  readonly host: ProcessIdentity | null;
}

/** One look at every process; made only when a search needs it, and shared by all searches of a reading. */
export function createStrayFinder(table: ProcessTable): (search: StraySearch) => Strays {
  let rows: ProcessRow[] | null = null;
  return (search) => {
    const user = process.getuid?.() ?? 0;
    if (user !== 0 && user !== search.owner) return { state: "cannot-tell" };
    rows ??= table.rows().filter((row) => !row.zombie && row.pid !== process.pid);
    const candidates = rows.filter((row) => mayBelong(row, search));
    const registry = realPath(search.registry);
    const host = candidates.find((row) => isHost(table.commandLine(row.pid), registry, search.name)) ?? null;
    const marked = candidates.filter((row) => isMarked(table.environment(row.pid), registry, search.name));
    return { state: "searched", host: identity(host), child: identity(topmost(marked)) };
  };
}

function mayBelong(row: ProcessRow, search: StraySearch): boolean {
  if (search.host !== null && Number(row.start) < Number(search.host.start)) return false;
  const born = startTimeMs(row);
  return search.launchedAt === null || born === null || born > Date.parse(search.launchedAt) - CLOCK_SLACK_MS;
}

function isHost(args: readonly string[] | null, registry: string, name: string): boolean {
  if (args === null) return false;
  const at = args.indexOf("__session-host");
  return at >= 0 && args[at + 2] === name && realPath(args[at + 1] ?? "") === registry;
}

function isMarked(environment: readonly string[] | null, registry: string, name: string): boolean {
  if (environment === null || !environment.includes(`PTY_SESSION=${name}`)) return false;
  const root = environment.find((line) => line.startsWith("ST_ROOT="))?.slice("ST_ROOT=".length);
  return root !== undefined && realPath(root) === realPath(join(dirname(registry), "smalltalk"));
}

/** The marked process that no other marked one started. */
function topmost(marked: readonly ProcessRow[]): ProcessRow | null {
  const pids = new Set(marked.map((row) => row.pid));
  return marked.find((row) => !pids.has(row.parent)) ?? null;
}

function identity(row: ProcessRow | null): ProcessIdentity | null {
  return row === null ? null : { pid: row.pid, start: row.start };
}

/** A path as the kernel knows it; as it is spelled where it leads nowhere. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

/** One look at the process table for many sessions: who carries their marks, who is below whom, who is never theirs. */
import { realpathSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import { type Mark, markOf } from "../process-marks.ts";
import { indexProcesses, type ProcessIndex, sessionTree } from "../process-tree.ts";
import type { ProcessRow, ProcessTable } from "../system/processes.ts";

export interface ProcessScan {
  readonly index: ProcessIndex;
  /** False when a process showed no environment: it may just be executing another program. */
  readonly settled: boolean;
}

/** Parent of the kernel's own threads on Linux; these never have an environment. */
const KERNEL_THREADS = 2;

/** A folder as the kernel knows it, so that a network reached through a link is the same; as spelled where it is gone. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

/** Reads every process and its environment, once. `stRoot` in the marks is a real path. */
export function scanProcesses(table: ProcessTable): ProcessScan {
  const rows = table.rows();
  const realPaths = new Map<string, string>();
  const marks = new Map<number, Mark>();
  let settled = true;
  for (const { pid, parent, zombie } of rows) {
    if (zombie || pid === KERNEL_THREADS || parent === KERNEL_THREADS) continue;
    const environment = table.environment(pid);
    const mark = markOf(environment);
    if (mark !== null) marks.set(pid, withRealPath(mark, realPaths));
    else if (environment?.every((entry) => entry === "")) settled = false;
  }
  return { index: indexProcesses(rows, marks), settled };
}

function withRealPath(mark: Mark, known: Map<string, string>): Mark {
  if (mark.stRoot === null) return mark;
  const stRoot = known.get(mark.stRoot) ?? realPath(mark.stRoot);
  known.set(mark.stRoot, stRoot);
  return { ...mark, stRoot };
}

/** This process and everything above it: never part of what it ends. */
export function ownLine(table: ProcessTable): Set<number> {
  const line = new Set<number>();
  for (let pid = process.pid; pid > 1 && !line.has(pid); ) {
    line.add(pid);
    const row = table.row(pid);
    pid = row === null || row === "hidden" ? 0 : row.parent;
  }
  return line;
}

/** What a session that is dead has left running: processes that carry its mark, and all below them. */
export function findLeftovers(
  targets: readonly { readonly session: string; readonly stRoot: string }[],
  options: { readonly keepPids?: readonly number[] },
  table: ProcessTable,
): { readonly session: string; readonly processes: ProcessRow[] }[] {
  if (targets.length === 0) return [];
  const { index } = scanProcesses(table);
  const exclude = new Set([...ownLine(table), ...(options.keepPids ?? [])]);
  return targets.map(({ session, stRoot }) => ({
    session,
    processes: sessionTree(index, { session, stRoot: realPath(stRoot), roots: [], above: [], exclude }),
  }));
}

/** Which processes belong to a session: what its agent started, and what carries the session's mark. */
import type { Mark } from "./process-marks.ts";
import type { ProcessRow } from "./system/processes.ts";

/** The process table, indexed once for all sessions. */
export interface ProcessIndex {
  readonly rows: ReadonlyMap<number, ProcessRow>;
  readonly children: ReadonlyMap<number, readonly ProcessRow[]>;
  readonly marks: ReadonlyMap<number, Mark>;
  /** Pids by the session that they are marked for. */
  readonly marked: ReadonlyMap<string, readonly number[]>;
}

/** Indexes `rows`; `marks` holds the marked pids only. */
export function indexProcesses(rows: readonly ProcessRow[], marks: ReadonlyMap<number, Mark>): ProcessIndex {
  const children = new Map<number, ProcessRow[]>();
  for (const row of rows) append(children, row.parent, row);
  const marked = new Map<string, number[]>();
  for (const [pid, mark] of marks) {
    if (mark.stRoot !== null) append(marked, keyOf(mark.session, mark.stRoot), pid);
  }
  return { rows: new Map(rows.map((row) => [row.pid, row])), children, marks, marked };
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function keyOf(session: string, stRoot: string): string {
  return `${session}\0${stRoot}`;
}

export interface TreeRequest {
  readonly session: string;
  readonly stRoot: string;
  /** Processes known to be the session's; with everything below them. */
  readonly roots: readonly number[];
  /** Only what is below these is the session's: a living host. */
  readonly above: readonly number[];
  /** Not the session's, nor is what is below them: living hosts, ourselves, a supervisor. */
  readonly exclude: ReadonlySet<number>;
}

/**
 * The living processes of one session, parents before children: `roots`, everything that carries both `PTY_SESSION`
 * and `ST_ROOT` of the session, and all that these started. Zombies are dead. What runs another session (an agent may
 * well start a network of its own) is that session's. What shed both variables and its parent is out of reach.
 */
export function sessionTree(index: ProcessIndex, request: TreeRequest): ProcessRow[] {
  const tree = new Map<number, ProcessRow>();
  const waiting: ProcessRow[] = [];
  const marked = index.marked.get(keyOf(request.session, request.stRoot)) ?? [];
  for (const pid of [...request.roots, ...marked]) {
    const row = index.rows.get(pid);
    if (row !== undefined) waiting.push(row);
  }
  for (const pid of request.above) waiting.push(...ownChildren(index, pid, request));
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
    if (tree.has(row.pid) || request.exclude.has(row.pid) || row.pid <= 1) continue;
    tree.set(row.pid, row);
    waiting.push(...ownChildren(index, row.pid, request));
  }
  return [...tree.values()].filter((row) => !row.zombie);
}

function ownChildren(index: ProcessIndex, pid: number, request: TreeRequest): ProcessRow[] {
  const children = index.children.get(pid) ?? [];
  return children.filter((child) => !isForeign(index, child.pid, request));
}

/** Whether a process below `host` is marked for the session. */
export function hasMarkedChild(
  index: ProcessIndex,
  host: number,
  request: Pick<TreeRequest, "session" | "stRoot">,
): boolean {
  return (index.children.get(host) ?? []).some((child) => {
    const mark = index.marks.get(child.pid);
    return mark !== undefined && !namesAnother(mark, request);
  });
}

/** Marked for another session, or the host of one: unmarked itself, with a child that is marked for another. */
function isForeign(index: ProcessIndex, pid: number, request: TreeRequest): boolean {
  const mark = index.marks.get(pid);
  if (mark !== undefined) return namesAnother(mark, request);
  return (index.children.get(pid) ?? []).some((child) => {
    const below = index.marks.get(child.pid);
    return below !== undefined && namesAnother(below, request);
  });
}

export function namesAnother(
  { session, stRoot }: Mark,
  request: Pick<TreeRequest, "session" | "stRoot">,
): boolean {
  return session !== request.session || (stRoot !== null && stRoot !== request.stRoot);
}

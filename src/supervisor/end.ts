/**
 * The one routine that signals agents (SUP-R14): `down`, retirement, `restart` and clearing what a dead session left
 * behind all come here. TERM to an agent's whole process tree, a grace, KILL, then a look at what is still there.
 */
import { errnoOf } from "../errors.ts";
import { sessionTree } from "../process-tree.ts";
import type { Identification, ProcessIdentity } from "../session.ts";
import type { Clock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import type { ProcessRow, ProcessTable } from "../system/processes.ts";
import { ownLine, realPath, scanProcesses } from "./process-scan.ts";
import { createProof, type Proof, recognise } from "./proof.ts";

export type EndSignal = "SIGTERM" | "SIGKILL";

export interface EndPorts {
  readonly table: ProcessTable;
  /** Sends; throws a system error (`ESRCH`, `EPERM`) when it cannot, as `process.kill` does. */
  signal(pid: number, signal: EndSignal): unknown;
  readonly clock: Clock;
}

/** A session to end, as its ledger (or record) names its processes. */
export interface EndTarget {
  readonly session: string;
  /** `<net>/smalltalk`: with the session's name, the mark that its processes carry. */
  readonly stRoot: string;
  readonly host: ProcessIdentity | null;
  readonly child: ProcessIdentity | null;
  /** Boot under which host and child were started. */
  readonly boot: string;
}

export interface EndOptions {
  /** Between TERM and KILL; one for all, which are ended in parallel. */
  readonly graceMs: number;
  /** Never signalled, nor what would be a session's only by being below them: the network's supervisor. */
  readonly keepPids?: readonly number[];
  /** How long a host may take to write its exit record once its agent is gone. */
  readonly hostLeaveMs?: number;
}

export interface Survivor {
  readonly pid: number;
  readonly name: string;
  /** Why it could not be signalled; null when it was, and lives on. */
  readonly problem: string | null;
}

export interface EndResult {
  readonly session: string;
  /** The agent's process. */
  readonly pid: number | null;
  readonly result: "stopped" | "already-dead" | "survived" | "unknown";
  readonly survivors: readonly Survivor[];
}

const POLL_MS = 10;
const SCAN_EVERY_MS = 100;
/** One scan is no picture of an instant: what forks and exits while it is taken can slip through. */
const CLEAN_SCANS = 2;
/** How long to wait for a process that is just being replaced by another program to show its environment. */
const SETTLE_MS = 200;
const HOST_LEAVE_MS = 2_000;
/** How long what was sent KILL may take to go. */
const KILL_WAIT_MS = 2_000;

/** One session on its way out. */
interface Ending {
  readonly target: EndTarget;
  readonly child: Identification;
  /** Whether the recorded host, if it lives, showed that it is this session's. */
  readonly hostProven: boolean;
  host: Identification;
  /** Its processes that were alive at the last look, parents first. */
  readonly members: Map<number, ProcessRow>;
  readonly sent: Map<number, EndSignal>;
  readonly problems: Map<number, string>;
  /** Something of it was alive. */
  found: boolean;
  agentGoneAt: number | null;
}

interface Round {
  readonly endings: readonly Ending[];
  readonly ports: EndPorts;
  /** Never signalled: the first process, this one and those above it, what is to be kept. */
  readonly never: ReadonlySet<number>;
  /** Those and the living hosts: not the agents' own. */
  readonly exclude: ReadonlySet<number>;
  readonly killAt: number;
  readonly giveUpAt: number;
  readonly hostLeaveMs: number;
}

/**
 * Ends the sessions and says what became of each, in the order of `targets`. A living host is never signalled: it
 * leaves when its agent has ended; one that does not (stopped, hung) gets KILL once its agent is provably dead.
 * Every signal is preceded by a check of pid and start time. Never signalled: the first process, this one and those
 * above it, `keepPids`, what cannot be told, and what shows nothing of the session that it is recorded for. Takes at most the grace, `hostLeaveMs` and two seconds.
 */
export async function endSessions(
  targets: readonly EndTarget[],
  options: EndOptions,
  ports: EndPorts,
): Promise<EndResult[]> {
  if (targets.length === 0) return [];
  const never = new Set([1, ...ownLine(ports.table), ...(options.keepPids ?? [])]);
  const prove = createProof(ports.table, ports.clock, never);
  const endings = await Promise.all(targets.map((target) => begin(target, prove)));
  const hosts = endings.flatMap(({ host, target }) => (host === "not-ours" ? [] : (target.host?.pid ?? [])));
  const killAt = performance.now() + options.graceMs;
  const hostLeaveMs = options.hostLeaveMs ?? HOST_LEAVE_MS;
  await endAll({
    endings,
    ports,
    never,
    exclude: new Set([...never, ...hosts]),
    killAt,
    giveUpAt: killAt + hostLeaveMs + KILL_WAIT_MS,
    hostLeaveMs,
  });
  return endings.map((ending) => resultOf(ending, ports.table));
}

async function begin(target: EndTarget, prove: Proof): Promise<Ending> {
  const host = await prove.host(target);
  const child = prove.child(target, host);
  return {
    target,
    child,
    hostProven: host !== "unknown",
    host,
    members: new Map(),
    sent: new Map(),
    problems: new Map(),
    found: host === "ours" || child === "ours",
    agentGoneAt: null,
  };
}

/** A host that never showed whose it is stays unknown, however long it lives. */
function still({ target, hostProven }: Ending, table: ProcessTable): Identification {
  const now = recognise(target.host, target, table);
  return now === "ours" && !hostProven ? "unknown" : now;
}

/** It cannot be told whether it lives, so nothing of it is signalled. */
function isUnknown({ child, host }: Ending): boolean {
  return child === "unknown" || (child === "not-ours" && host === "unknown");
}

/** Until every session is gone or given up, and two scans in a row find nothing more of any. */
async function endAll(round: Round): Promise<void> {
  let scannedAt = Number.NEGATIVE_INFINITY;
  let doneAt: number | null = null;
  let cleanScans = 0;
  while (cleanScans < CLEAN_SCANS) {
    const now = performance.now();
    const atKill = now >= round.killAt && scannedAt < round.killAt;
    const scanning = doneAt !== null || atKill || now - scannedAt >= SCAN_EVERY_MS;
    let settled = true;
    if (scanning) {
      settled = findMembers(round);
      scannedAt = now;
    }
    for (const ending of round.endings) step(ending, now, round);
    const done = round.endings.every((ending) => isDone(ending, now, round));
    doneAt = done ? (doneAt ?? now) : null;
    const clean = doneAt !== null && scanning && (settled || now - doneAt >= SETTLE_MS);
    cleanScans = clean ? cleanScans + 1 : 0;
    if (cleanScans < CLEAN_SCANS) await round.ports.clock.sleep(POLL_MS);
  }
}

/** Adds every process that now is a session's to its members. False when one may have been missed. */
function findMembers({ endings, ports, exclude, never }: Round): boolean {
  const { index, settled } = scanProcesses(ports.table);
  for (const ending of endings) {
    if (isUnknown(ending)) continue;
    const { target, members, child, host } = ending;
    const roots: ProcessIdentity[] = [...members.values()];
    if (child === "ours" && target.child !== null) roots.push(target.child);
    const tree = sessionTree(index, {
      session: target.session,
      stRoot: realPath(target.stRoot),
      roots: roots.filter(({ pid, start }) => index.rows.get(pid)?.start === start).map(({ pid }) => pid),
      above: host === "ours" && target.host !== null && !never.has(target.host.pid) ? [target.host.pid] : [],
      exclude,
    });
    for (const row of tree) members.set(row.pid, row);
  }
  return settled;
}

/** One look at one session, and the signals that follow from it. */
function step(ending: Ending, now: number, round: Round): void {
  if (isUnknown(ending)) return;
  const { members, target } = ending;
  const { table } = round.ports;
  for (const row of members.values()) {
    if (!isAlive(row, table)) forget(ending, row.pid);
  }
  ending.host = still(ending, table);
  if (members.size > 0) {
    ending.found = true;
    ending.agentGoneAt = null;
    const signal = now >= round.killAt ? "SIGKILL" : "SIGTERM";
    for (const row of members.values()) send(signal, row, ending, round.ports);
    return;
  }
  ending.agentGoneAt ??= now;
  if (target.host !== null && round.never.has(target.host.pid)) return;
  const hostLeavesBy = Math.max(round.killAt, ending.agentGoneAt + round.hostLeaveMs);
  if (target.host === null || ending.host !== "ours" || now < hostLeavesBy) return;
  if (recognise(target.child, target, table) === "not-ours")
    send("SIGKILL", target.host, ending, round.ports);
}

function forget({ members, sent }: Ending, pid: number): void {
  members.delete(pid);
  sent.delete(pid);
}

function isAlive({ pid, start }: ProcessIdentity, table: ProcessTable): boolean {
  const row = table.row(pid);
  return row === "hidden" || (row !== null && !row.zombie && row.start === start);
}

/** Each signal once to each process, right after a look that it still is the one. */
function send(signal: EndSignal, { pid, start }: ProcessIdentity, ending: Ending, ports: EndPorts): void {
  const { sent, problems } = ending;
  if (sent.get(pid) === signal || problems.has(pid)) return;
  const row = ports.table.row(pid);
  if (row === "hidden") problems.set(pid, "cannot be looked at");
  if (row === null || row === "hidden" || row.zombie || row.start !== start) return;
  try {
    ports.signal(pid, signal);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EPERM") problems.set(pid, "not permitted to signal it");
    // Gone between the look and the signal: the next look says so.
    else if (code !== "ESRCH") throw error;
    return;
  }
  sent.set(pid, signal);
  effect(signal === "SIGTERM" ? "signal-term" : "signal-kill");
}

function isDone(ending: Ending, now: number, { giveUpAt, never }: Round): boolean {
  if (isUnknown(ending) || now >= giveUpAt) return true;
  const { members, problems, host, target } = ending;
  if (members.size > 0) return [...members.keys()].every((pid) => problems.has(pid));
  const hostPid = target.host?.pid ?? 0;
  return host !== "ours" || problems.has(hostPid) || never.has(hostPid);
}

function resultOf(ending: Ending, table: ProcessTable): EndResult {
  const { target } = ending;
  const survivors = isUnknown(ending) ? [] : survivorsOf(ending, table);
  const pid = target.child?.pid ?? null;
  return { session: target.session, pid, result: wordFor(ending, survivors), survivors };
}

function wordFor(ending: Ending, survivors: readonly Survivor[]): EndResult["result"] {
  if (survivors.length > 0) return "survived";
  if (isUnknown(ending) || ending.host === "unknown") return "unknown";
  return ending.found ? "stopped" : "already-dead";
}

/** What is alive at the end: processes of the agent; its host only where that is all there is. */
function survivorsOf({ target, members, problems }: Ending, table: ProcessTable): Survivor[] {
  const agents = new Map<number, ProcessIdentity>();
  for (const row of members.values()) if (isAlive(row, table)) agents.set(row.pid, row);
  for (const recorded of [target.child, target.host]) {
    const hidden = recorded === target.host && agents.size > 0;
    if (recorded === null || hidden || recognise(recorded, target, table) !== "ours") continue;
    agents.set(recorded.pid, recorded);
  }
  return [...agents.keys()].map((pid) => {
    const row = table.row(pid);
    const name = row === null || row === "hidden" ? "?" : row.name;
    return { pid, name, problem: problems.get(pid) ?? null };
  });
}

/**
 * What the facts about one session say together: running, dead, or cannot tell.
 * Rule (docs/disk-layout.md): a session is dead only when its ledger says how it ended, or when the ledger's host and
 * child are both provably dead; a file that is missing or torn proves nothing. What is not proven is "unknown".
 */
import type { Ledger } from "./ledger.ts";
import type { Identification, ObservedSession, SessionRecord } from "./session.ts";
import type { Found, SessionFacts, SocketAnswer } from "./session-facts.ts";
import { patchTags, type Tags } from "./tags.ts";

interface Verdict {
  readonly process: Identification;
  readonly status: ObservedSession["status"];
  readonly host: Identification;
  readonly child: Identification;
  readonly pid: number | null;
  readonly childPid: number | null;
  readonly exitCode?: number | null;
  readonly exitedAt?: string | null;
  readonly starting?: boolean;
  /** Its host is another program's. */
  readonly outside?: boolean;
}

/** The launch writes record and ledger together; a record born later than this after it is another program's run. */
export const FOREIGN_RUN_MS = 5_000;

/** The session that the facts show. Total: every set of facts has one. */
export function observeSession(facts: SessionFacts): ObservedSession {
  const verdict = judge(facts);
  const record = usable(facts.record);
  const ledger = usable(facts.ledger);
  const alive = verdict.process !== "not-ours";
  const orphaned = alive && verdict.host === "not-ours" && verdict.child === "ours";
  return {
    name: facts.name,
    status: verdict.status,
    process: verdict.process,
    processAlive: alive,
    pid: verdict.host === "not-ours" ? null : verdict.pid,
    exitCode: verdict.exitCode ?? null,
    exitedAt: verdict.exitedAt ?? null,
    tags: tagsOf(facts),
    lostTags: facts.lostTags,
    command: record?.command ?? ledger?.spec.command ?? "",
    args: record?.args ?? ledger?.spec.args ?? [],
    cwd: record?.cwd ?? ledger?.spec.cwd ?? "",
    createdAt: (record?.createdAt || ledger?.launchedAt) ?? null,
    host: verdict.host,
    child: verdict.child,
    childPid: verdict.child === "not-ours" ? null : verdict.childPid,
    orphaned,
    starting: verdict.starting ?? false,
    outside: verdict.outside ?? false,
    ledger,
    record,
    agent: facts.agent,
    missing: missingFiles(facts, verdict),
  };
}

/** The record's, as they are once convoy's lost changes are made again; the ledger's stand in for them. */
function tagsOf({ record, ledger, lostTags }: SessionFacts): Tags {
  if (record.state !== "read") return usable(ledger)?.tags ?? {};
  return patchTags(record.value.tags ?? {}, lostTags.set, lostTags.remove);
}

function usable<T>(found: Found<T>): T | null {
  return found.state === "read" ? found.value : null;
}

function judge(facts: SessionFacts): Verdict {
  const verdict = judgeByFiles(facts);
  return verdict.process === "ours" ? verdict : (judgePtyHost(facts) ?? verdict);
}

/** pty's program has a host for it: from the moment that is started, before it has made a file, and without any. */
function judgePtyHost({ strays }: SessionFacts): Verdict | null {
  if (strays.state !== "searched" || strays.ptyHost === null) return null;
  return {
    process: "ours",
    status: "running",
    host: "ours",
    child: "unknown",
    pid: strays.ptyHost.pid,
    childPid: strays.ptyChildPid,
    starting: strays.ptyChildPid === null,
    outside: true,
  };
}

function judgeByFiles(facts: SessionFacts): Verdict {
  if (facts.ledger.state === "read") return judgeLedger(facts, facts.ledger.value);
  if (facts.ledger.state === "missing") return judgeWithoutLedger(facts);
  const stray = judgeStrays(facts, null);
  if (stray !== null) return stray;
  // An unusable ledger may name a living process, so a search that could not be made leaves it open.
  if (facts.strays.state !== "searched") return unknown(facts);
  const other = judgeWithoutLedger(facts);
  return other.process === "unknown" && !facts.sameBoot && facts.socket.state !== "silent"
    ? { ...DEAD, status: "vanished" }
    : other;
}

function judgeLedger(facts: SessionFacts, ledger: Ledger): Verdict {
  const host = facts.host ?? "not-ours";
  const child = facts.child ?? "not-ours";
  const pids = { pid: ledger.host?.pid ?? null, childPid: ledger.child?.pid ?? null };
  if (child === "ours") return { process: "ours", status: "running", host, child, ...pids };
  if (ledger.end !== null) return afterTheEnd(facts, ledger, deadByLedger(facts, ledger));
  if (host === "ours") {
    const starting = ledger.child === null;
    return {
      process: "ours",
      status: "running",
      host,
      child: starting ? "unknown" : child,
      ...pids,
      starting,
    };
  }
  if (host === "unknown" || child === "unknown") {
    return facts.socket.state === "answered" && facts.socket.hostPid === pids.pid
      ? { process: "ours", status: "running", host: "ours", child, ...pids }
      : { ...unknown(facts), host, child, ...pids };
  }
  const dead = afterTheEnd(facts, ledger, deadByLedger(facts, ledger));
  if (ledger.child !== null || !facts.sameBoot || dead.process !== "not-ours") return dead;
  return unreportedChild(facts, ledger, dead);
}

/** No end, no child on record, and the host (if any is on record) is dead: a process may live unrecorded. */
function unreportedChild(facts: SessionFacts, ledger: Ledger, dead: Verdict): Verdict {
  const stray = judgeStrays(facts, ledger);
  if (stray !== null) return stray;
  if (ledger.host === null && facts.launching) {
    return { ...unknown(facts), status: "running", starting: true };
  }
  return facts.strays.state === "searched" ? dead : unknown(facts);
}

/** Null when the search found nothing, or was not made. */
function judgeStrays(facts: SessionFacts, ledger: Ledger | null): Verdict | null {
  if (facts.strays.state !== "searched") return null;
  const { host, child } = facts.strays;
  if (host === null && child === null) return null;
  return {
    process: "ours",
    status: "running",
    host: host === null ? "not-ours" : "ours",
    child: child !== null ? "ours" : "unknown",
    pid: host?.pid ?? null,
    childPid: child?.pid ?? null,
    starting: ledger !== null && host !== null,
  };
}

const DEAD = { process: "not-ours", host: "not-ours", child: "not-ours", pid: null, childPid: null } as const;

function deadByLedger(facts: SessionFacts, ledger: Ledger): Verdict {
  if (ledger.end !== null) {
    const { exitCode, exitedAt, error } = ledger.end;
    const seen = exitCode !== null || exitedAt !== null || error !== null;
    return {
      ...DEAD,
      host: facts.host ?? "not-ours",
      status: seen ? "exited" : "vanished",
      exitCode,
      exitedAt,
    };
  }
  const record = usable(facts.record);
  return record !== null && isExitOfRun(record, ledger)
    ? exitedByRecord(record)
    : { ...DEAD, status: "vanished" };
}

/** Whether the exit in the record belongs to the run that the ledger describes, and not to one before it. */
function isExitOfRun(record: SessionRecord, ledger: Ledger): boolean {
  const at = record.exitedAt ?? (record.exitCode === undefined ? "" : record.createdAt);
  return Date.parse(at) >= Date.parse(ledger.launchedAt);
}

function hasExit(record: SessionRecord): boolean {
  return record.exitCode !== undefined || record.exitedAt !== undefined;
}

function exitedByRecord(record: SessionRecord): Verdict {
  return {
    ...DEAD,
    status: "exited",
    exitCode: record.exitCode ?? null,
    exitedAt: record.exitedAt ?? null,
  };
}

/**
 * The ledger's run is over. Somebody may since have started the session by another program (`pty restart`), which no
 * ledger tells of: then the record is of a later run, or the socket has an answer.
 */
function afterTheEnd(facts: SessionFacts, ledger: Ledger, dead: Verdict): Verdict {
  if (facts.host === "ours") return dead; // The ledger's own host, on its way out, still has the socket.
  if (facts.socket.state === "answered") return answered(facts, facts.socket);
  if (facts.socket.state === "silent") return unknown(facts);
  const record = usable(facts.record);
  return record !== null && isLaterRun(record, ledger) ? judgeWithoutLedger(facts) : dead;
}

/** Whether another program wrote this record for a run of its own, after the ledger's. */
function isLaterRun(record: SessionRecord, ledger: Ledger): boolean {
  return Date.parse(record.createdAt) > Date.parse(ledger.launchedAt) + FOREIGN_RUN_MS;
}

/** Of a run before the ledger's: a writer without a lock has put it back over the launch's own. */
function isOlderRun({ createdAt }: SessionRecord, ledger: Ledger | null): boolean {
  return ledger !== null && Date.parse(createdAt) < Date.parse(ledger.launchedAt);
}

function judgeWithoutLedger(facts: SessionFacts): Verdict {
  if (facts.socket.state === "answered") return answered(facts, facts.socket);
  const stray = judgeStrays(facts, null);
  if (stray?.host === "ours") return stray;
  const record = usable(facts.record);
  // Of a session without any file a program is all that shows it, and what that once was started for may be over.
  if (stray !== null && facts.record.state === "missing" && facts.ledger.state === "missing")
    return { ...unknown(facts), childPid: stray.childPid };
  if (record !== null && hasExit(record)) return exitedByRecord(record);
  if (facts.namedHost === "gone" && facts.socket.state !== "silent") return { ...DEAD, status: "vanished" };
  return unknown(facts);
}

function answered(facts: SessionFacts, answer: SocketAnswer & { state: "answered" }): Verdict {
  return {
    process: "ours",
    status: "running",
    host: "ours",
    child: "unknown",
    pid: answer.hostPid ?? namedPid(facts),
    childPid: answer.childPid,
    outside: !answer.convoy,
  };
}

/** pty's word for a session that does not answer, with the process left open. */
function unknown(facts: SessionFacts): Verdict {
  const record = usable(facts.record);
  return {
    process: "unknown",
    status: record !== null && hasExit(record) ? "exited" : "vanished",
    host: "unknown",
    child: "unknown",
    pid: namedPid(facts),
    childPid: null,
  };
}

/** The host pid that the registry's own files name; null when they name none. */
export function namedPid(facts: Pick<SessionFacts, "record" | "pidFile">): number | null {
  return usable(facts.pidFile) ?? usable(facts.record)?.daemonPid ?? null;
}

/** What a living host of ours should put back. One that is still starting may not have made its files yet. */
function missingFiles(facts: SessionFacts, verdict: Verdict): ("record" | "socket" | "pid")[] {
  if (verdict.outside === true || verdict.starting === true) return [];
  if (verdict.process !== "ours" || verdict.host !== "ours" || verdict.status !== "running") return [];
  const missing: ("record" | "socket" | "pid")[] = [];
  if (facts.record.state !== "read" || isOlderRun(facts.record.value, usable(facts.ledger)))
    missing.push("record");
  if (!facts.socketFile || facts.socketReplaced) missing.push("socket");
  if (usable(facts.pidFile) !== verdict.pid) missing.push("pid");
  return missing;
}

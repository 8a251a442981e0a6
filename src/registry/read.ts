/** One reading of the registry folder: every session, with what the files, the processes and the sockets say. */
import { join } from "node:path";
import type { ParsedLedger } from "../ledger-codec.ts";
import { observeSession } from "../liveness.ts";
import type { ObservedSession, SessionRecord } from "../session.ts";
import type { Found, SessionFacts, SocketAnswer, Strays } from "../session-facts.ts";
import { systemClock } from "../system/clock.ts";
import { fileIdentity } from "../system/file-identity.ts";
import { isLockHeld } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { bootTimeMs, identify, type ProcessTable, processTable } from "../system/processes.ts";
import { findBusId } from "./bus-id.ts";
import { type FileReading, readLedgerFile, readPidFile, readRecordFile } from "./files.ts";
import {
  isSocket,
  LEDGERS,
  listFolder,
  RECORD_SUFFIX,
  type RegistryProblem,
  sessionNames,
  socketNames,
  statOf,
} from "./folder.ts";
import { LOOK_MS, MAX_LOOKS, readRecordTags } from "./lost-tags.ts";
import { probeSocket } from "./probe.ts";
import { createStrayFinder, type StraySearch } from "./strays.ts";

export interface RegistryContent {
  /** Sorted by name. */
  readonly sessions: readonly ObservedSession[];
  readonly problems: readonly RegistryProblem[];
}

interface Reading {
  readonly registry: string;
  readonly table: ProcessTable;
  readonly ownLock: boolean;
  /** Whether a session without any file is looked for in the process table. */
  readonly unlisted: boolean;
  readonly findStrays: (search: StraySearch) => Strays;
  readonly problems: RegistryProblem[];
  /** File names of the sockets (or links) in the folder; null when it was not listed. */
  readonly sockets: ReadonlySet<string> | null;
}

/** A ledger that its launcher completes while we look is read again at most this often. */
const MAX_REREADS = 3;
/** How far the wall clock may have been set between a boot and a write for the two still to be compared. */
const BOOT_SLACK_MS = 60_000;

/**
 * Reads the pty folder `registry` once. A missing folder is an empty one. Files that cannot be used are reported and
 * prove nothing. Throws a `ConvoyError` when a folder cannot be listed: no sessions would be a lie.
 */
export async function readRegistry(
  registry: string,
  table: ProcessTable = processTable,
): Promise<RegistryContent> {
  const problems: RegistryProblem[] = [];
  const entries = listFolder(registry);
  const names = new Set(sessionNames("", entries, problems));
  for (const name of sessionNames(LEDGERS, listFolder(join(registry, LEDGERS)), problems)) names.add(name);
  const reading = { ...startReading(registry, table), problems, sockets: socketNames(registry, entries) };
  const observed = await Promise.all([...names].sort().map((name) => observe(reading, name)));
  return { sessions: observed.filter((session) => session !== null), problems: reading.problems };
}

/**
 * One session as `readRegistry` would show it; null when there is none of that name. `ownLock`: the caller holds the
 * session's launch lock, so that a launch cut short is not taken for one that is under way.
 */
export function readSession(
  registry: string,
  name: string,
  options: { readonly ownLock?: boolean; readonly table?: ProcessTable } = {},
): Promise<ObservedSession | null> {
  return observe(startReading(registry, options.table ?? processTable, options.ownLock), name);
}

/**
 * Sessions of these names that have neither record nor ledger, and of which processes run all the same. Their files
 * were removed, or are about to be written by another program.
 */
export async function readUnlisted(
  registry: string,
  names: readonly string[],
  table: ProcessTable = processTable,
): Promise<ObservedSession[]> {
  if (names.length === 0) return [];
  const reading = { ...startReading(registry, table), unlisted: true };
  const observed = await Promise.all(names.map((name) => observe(reading, name)));
  return observed.filter((session) => session !== null).filter(({ record, ledger }) => !record && !ledger);
}

function startReading(registry: string, table: ProcessTable, ownLock = false): Reading {
  const findStrays = createStrayFinder(registry, table);
  return { registry, table, ownLock, unlisted: ownLock, findStrays, problems: [], sockets: null };
}

async function observe(
  reading: Reading,
  name: string,
  rereads = 0,
  looks = 0,
): Promise<ObservedSession | null> {
  const paths = sessionPaths(reading.registry, name);
  const record = readRecordFile(paths.record);
  const ledger = readLedgerFile(paths.ledger);
  const known = {
    name,
    record: found(record, record.parsed?.record),
    ledger: found(ledger, ledger.parsed?.ledger),
    pidFile: readPidFile(paths.pid),
    socketFile: reading.sockets?.has(`${name}.sock`) ?? isSocket(paths.socket),
    socketReplaced: isReplaced(paths.socket, ledger.parsed?.ledger.socket ?? null),
    ...identifications(ledger, paths.ledger, reading.table),
  };
  const tags = readRecordTags(paths, ledger.parsed?.ledger ?? null, record.parsed?.record ?? null);
  if (tags.unsettled && looks < MAX_LOOKS) {
    await systemClock.sleep(LOOK_MS);
    return observe(reading, name, rereads, looks + 1);
  }
  const foreign = record.state === "unusable" && ledger.state === "missing";
  const nothing = record.state === "missing" && ledger.state === "missing";
  if (
    (nothing && !(reading.unlisted && isSeen(reading, name))) ||
    (foreign && !known.socketFile && known.pidFile.state === "missing")
  ) {
    report(reading, name, record, ledger);
    return null;
  }
  const socket: SocketAnswer = needsProbe(known)
    ? await probeSocket(paths.socket, name)
    : { state: "not-probed" };
  const strays = isProven(known, socket) ? NOT_SEARCHED : searchStrays(reading, known, paths.ledger);
  const open = strays.state === "searched" && isOpen(known);
  if (open && rereads < MAX_REREADS && hasChanged(ledger, paths.ledger)) {
    return observe(reading, name, rereads + 1, looks);
  }
  report(reading, name, record, ledger);
  return observeSession({
    ...known,
    lostTags: tags.lost,
    socket,
    strays,
    namedHost: known.host === "ours" || known.child === "ours" ? "none" : namedHost(known, reading.table),
    launching: open && !reading.ownLock && isLockHeld(paths.launchLock),
    agent: findBusId(
      ledger.parsed?.ledger ?? null,
      record.parsed?.record ?? null,
      livingChild(socket, strays),
      reading.table,
    ),
  });
}

type Known = Pick<
  SessionFacts,
  "name" | "record" | "ledger" | "pidFile" | "socketFile" | "socketReplaced" | "host" | "child" | "sameBoot"
>;

function isReplaced(path: string, bound: string | null): boolean {
  const now = bound === null ? null : fileIdentity(path);
  return now !== null && now !== bound;
}

function found<T>(reading: FileReading<unknown>, value: T | undefined): Found<T> {
  if (value !== undefined) return { state: "read", value };
  return { state: reading.state === "missing" ? "missing" : "unusable" };
}

function identifications(
  file: FileReading<ParsedLedger>,
  path: string,
  table: ProcessTable,
): Pick<Known, "host" | "child" | "sameBoot"> {
  const ledger = file.parsed?.ledger;
  if (ledger === undefined) return { host: null, child: null, sameBoot: !isOlderThanBoot(path) };
  return {
    host: ledger.host === null ? null : identify(ledger.host, ledger.boot, table),
    child: ledger.child === null ? null : identify(ledger.child, ledger.boot, table),
    sameBoot: ledger.boot === table.boot(),
  };
}

/** A file that was last written before this machine started tells of nothing that can still run. */
function isOlderThanBoot(path: string): boolean {
  const writtenMs = statOf(path)?.mtimeMs;
  const booted = bootTimeMs();
  return writtenMs !== undefined && booted !== null && writtenMs < booted - BOOT_SLACK_MS;
}

/** A socket is asked only where the ledger's identities leave the session open, or another program may run it. */
function needsProbe(known: Known): boolean {
  if (!known.socketFile) return false;
  if (known.ledger.state !== "read") return known.ledger.state === "unusable" || !endedByRecord(known.record);
  return known.host !== "ours" && known.child !== "ours";
}

function endedByRecord(record: Found<SessionRecord>): boolean {
  if (record.state !== "read") return false;
  return record.value.exitCode !== undefined || record.value.exitedAt !== undefined;
}

const NOT_SEARCHED: Strays = { state: "not-searched" };

/** Whether a process has been seen that makes it live. */
function isProven({ host, child, ledger }: Known, socket: SocketAnswer): boolean {
  if (host === "ours" || child === "ours") return true;
  return socket.state === "answered" && ledger.state !== "unusable";
}

/** Whether a process may live that no ledger names: a launch cut short, or a ledger that cannot be used. */
function isOpen({ ledger, sameBoot, host }: Known): boolean {
  if (ledger.state !== "read") return ledger.state === "unusable";
  const { child, end, host: recorded } = ledger.value;
  return sameBoot && end === null && child === null && (recorded === null || host === "not-ours");
}

/** Processes that may be the session's though no file names them; of an ended run, only what began after it. */
function searchStrays(reading: Reading, known: Known, ledgerPath: string): Strays {
  const owner = statOf(known.ledger.state === "missing" ? reading.registry : ledgerPath)?.uid;
  if (owner === undefined) return NOT_SEARCHED;
  const { launchedAt, host } =
    isOpen(known) && known.ledger.state === "read" ? known.ledger.value : { launchedAt: null, host: null };
  return reading.findStrays({ name: known.name, owner, launchedAt, host });
}

/** Whether any process is the session's, whatever its files say. */
function isSeen({ registry, findStrays }: Reading, name: string): boolean {
  const owner = statOf(registry)?.uid;
  if (owner === undefined) return false;
  const strays = findStrays({ name, owner, launchedAt: null, host: null });
  return (
    strays.state === "searched" && (strays.host !== null || strays.child !== null || strays.ptyHost !== null)
  );
}

/** Whether the launcher or the host has written the ledger since it was read: the search then asked the past. */
function hasChanged(before: FileReading<unknown>, path: string): boolean {
  return JSON.stringify(readLedgerFile(path)) !== JSON.stringify(before);
}

function namedHost(known: Known, table: ProcessTable): SessionFacts["namedHost"] {
  const pids: number[] = [];
  if (known.pidFile.state === "read") pids.push(known.pidFile.value);
  if (known.record.state === "read" && known.record.value.daemonPid !== undefined) {
    pids.push(known.record.value.daemonPid);
  }
  if (pids.length === 0) return "none";
  return pids.some((pid) => isThere(pid, table)) ? "exists" : "gone";
}

function isThere(pid: number, table: ProcessTable): boolean {
  const row = table.row(pid);
  return row !== null && (row === "hidden" || !row.zombie);
}

function livingChild(socket: SocketAnswer, strays: Strays): number | null {
  if (socket.state === "answered") return socket.childPid;
  return strays.state === "searched" ? (strays.ptyChildPid ?? strays.child?.pid ?? null) : null;
}

function report(
  reading: Reading,
  name: string,
  record: FileReading<unknown>,
  ledger: FileReading<unknown>,
): void {
  if (record.problem !== null) {
    reading.problems.push({ file: `${name}${RECORD_SUFFIX}`, message: record.problem });
  }
  if (ledger.problem !== null) {
    reading.problems.push({ file: `${LEDGERS}/${name}${RECORD_SUFFIX}`, message: ledger.problem });
  }
}

/** One reading of the registry folder: every session, with what the files, the processes and the sockets say. */
import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { isSessionName } from "../identity.ts";
import type { ParsedLedger } from "../ledger-codec.ts";
import {
  type Found,
  observeSession,
  type SessionFacts,
  type SocketAnswer,
  type Strays,
} from "../liveness.ts";
import type { ObservedSession, SessionRecord } from "../session.ts";
import { isLockHeld } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { bootTimeMs, identify, type ProcessTable, processTable } from "../system/processes.ts";
import { findBusId } from "./bus-id.ts";
import { type FileReading, readLedgerFile, readPidFile, readRecordFile } from "./files.ts";
import { probeSocket } from "./probe.ts";
import { createStrayFinder, type StraySearch } from "./strays.ts";

export interface RegistryProblem {
  /** Relative to the registry folder. */
  readonly file: string;
  readonly message: string;
}

export interface RegistryContent {
  /** Sorted by name. */
  readonly sessions: readonly ObservedSession[];
  readonly problems: readonly RegistryProblem[];
}

interface Reading {
  readonly registry: string;
  readonly table: ProcessTable;
  readonly ownLock: boolean;
  readonly findStrays: (search: StraySearch) => Strays;
  readonly problems: RegistryProblem[];
}

const RECORD_SUFFIX = ".json";
const LEDGERS = ".convoy/sessions";
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
  const reading = startReading(registry, table);
  const names = new Set(listNames(registry, "", reading.problems));
  for (const name of listNames(registry, LEDGERS, reading.problems)) names.add(name);
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

/** Names of the sessions that the pty folder `registry` has ledgers of. Throws as `readRegistry` does. */
export function listLedgerNames(registry: string): string[] {
  return listNames(registry, LEDGERS, []).sort();
}

function startReading(registry: string, table: ProcessTable, ownLock = false): Reading {
  return { registry, table, ownLock, findStrays: createStrayFinder(table), problems: [] };
}

function listNames(registry: string, folder: string, problems: RegistryProblem[]): string[] {
  const names: string[] = [];
  for (const entry of listFolder(join(registry, folder))) {
    if (!entry.name.endsWith(RECORD_SUFFIX)) continue;
    const name = entry.name.slice(0, -RECORD_SUFFIX.length);
    const file = join(folder, entry.name);
    if (!isSessionName(name)) problems.push({ file, message: "is not named as a session's file; skipped" });
    else if (entry.isDirectory()) problems.push({ file, message: "is a directory; skipped" });
    else names.push(name);
  }
  return names;
}

function listFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw new ConvoyError("failed", `cannot list ${path}: ${messageOf(error)}`);
  }
}

async function observe(reading: Reading, name: string, rereads = 0): Promise<ObservedSession | null> {
  const paths = sessionPaths(reading.registry, name);
  const record = readRecordFile(paths.record);
  const ledger = readLedgerFile(paths.ledger);
  const known = {
    name,
    record: found(record, record.parsed?.record),
    ledger: found(ledger, ledger.parsed?.ledger),
    pidFile: readPidFile(paths.pid),
    socketFile: statOf(paths.socket)?.isSocket() ?? false,
    ...identifications(ledger, paths.ledger, reading.table),
  };
  const foreign = record.state === "unusable" && ledger.state === "missing";
  const nothing = record.state === "missing" && ledger.state === "missing";
  if (nothing || (foreign && !known.socketFile && known.pidFile.state === "missing")) {
    report(reading, name, record, ledger);
    return null;
  }
  const socket: SocketAnswer = needsProbe(known)
    ? await probeSocket(paths.socket, name)
    : { state: "not-probed" };
  const strays = searchStrays(reading, known, paths.ledger);
  if (strays.state === "searched" && rereads < MAX_REREADS && hasChanged(ledger, paths.ledger)) {
    return observe(reading, name, rereads + 1);
  }
  report(reading, name, record, ledger);
  return observeSession({
    ...known,
    socket,
    strays,
    namedHost: namedHost(known, reading.table),
    launching: strays.state !== "not-searched" && !reading.ownLock && isLockHeld(paths.launchLock),
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
  "name" | "record" | "ledger" | "pidFile" | "socketFile" | "host" | "child" | "sameBoot"
>;

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

/** Undefined when it is not there or may not be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) !== null) return undefined;
    throw error;
  }
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

/** Only where a process may live that no ledger names: a launch cut short, or a ledger that cannot be used. */
function searchStrays(reading: Reading, known: Known, ledgerPath: string): Strays {
  const owner = statOf(ledgerPath)?.uid;
  if (owner === undefined) return { state: "not-searched" };
  const search = { registry: reading.registry, name: known.name, owner };
  if (known.ledger.state === "unusable") {
    return reading.findStrays({ ...search, launchedAt: null, host: null });
  }
  if (known.ledger.state !== "read" || !known.sameBoot) return { state: "not-searched" };
  const { host, child, end, launchedAt } = known.ledger.value;
  if (end !== null || child !== null || (host !== null && known.host !== "not-ours")) {
    return { state: "not-searched" };
  }
  return reading.findStrays({ ...search, launchedAt, host });
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
  return strays.state === "searched" ? (strays.child?.pid ?? null) : null;
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

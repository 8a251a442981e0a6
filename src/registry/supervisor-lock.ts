/**
 * One supervisor per network: `BEGIN EXCLUSIVE` on `.convoy/lock.db`, which the kernel lets go however the process
 * ends; `.convoy/holder.json` says who. Nothing else may open and close lock.db in the holding process: closing any
 * descriptor of a file drops the process's locks on it.
 */
import { Database } from "bun:sqlite";
import { chmodSync, statSync } from "node:fs";
import process from "node:process";
import { ConvoyError, messageOf } from "../errors.ts";
import { parseJsonObject } from "../json-members.ts";
import type { ProcessIdentity } from "../session.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { identify, identityOf, processTable } from "../system/processes.ts";
import { removeFile } from "../system/remove-file.ts";
import { ensureFolder } from "./changes.ts";
import { readText } from "./files.ts";

/** A supervisor as holder.json describes it. */
export interface Holder extends ProcessIdentity {
  readonly boot: string;
  readonly version: string;
}

export type SupervisorLock =
  | {
      readonly held: true;
      release(): void;
      /**
       * Looks whether it still is, and takes it again where its files were removed. False when another process was
       * there first. Throws a `ConvoyError` when that cannot be told.
       */
      confirm(): boolean;
    }
  /** Somebody else's. `holder` is null when it has not said who it is. */
  | { readonly held: false; readonly holder: Holder | null };

type LockPaths = Pick<NetworkPaths, "state" | "lockDatabase" | "holder">;

/** Held here for the life of the process: a connection that is collected lets go in silence. */
let connection: Database | null = null;
/** Of the file that `connection` has open: another one at its path is another lock. */
let inode = 0;

/** How long a loser waits for the winner to have written its name: it is about to, however busy the machine is. */
const NAMED_MS = 10_000;
/** How long one that just died is given to be seen dead, beside a lock that is free. */
const SETTLE_MS = 500;
const POLL_MS = 10;

/**
 * Takes the network's lock for this process, or says who has it. Throws a `ConvoyError` when the lock cannot be made.
 * Beside the lock the holder's identity counts too: somebody may have removed lock.db under a living supervisor.
 */
export async function acquireSupervisorLock(paths: LockPaths, version: string): Promise<SupervisorLock> {
  if (connection !== null) throw new ConvoyError("failed", "this process supervises a network already");
  ensureFolder(paths.state);
  const began = performance.now();
  while (true) {
    const opened = openExclusive(paths.lockDatabase);
    const holder = readSupervisor(paths);
    if (opened !== null && holder === null) {
      keep(opened, paths);
      writeHolder(paths, version);
      return { held: true, release: () => release(paths), confirm: () => confirm(paths, version) };
    }
    opened?.close();
    const settled = opened === null && holder !== null;
    const patienceMs = opened === null ? NAMED_MS : SETTLE_MS;
    if (settled || performance.now() - began >= patienceMs) return { held: false, holder };
    await systemClock.sleep(POLL_MS);
  }
}

/**
 * What was removed under a living holder is put back, but never over another's: of two that both lost their files the
 * first to open the new lock.db stays.
 */
function confirm(paths: LockPaths, version: string): boolean {
  ensureFolder(paths.state);
  if (inodeOf(paths.lockDatabase) !== inode) {
    const opened = openExclusive(paths.lockDatabase);
    if (opened === null) return false;
    // Another file: closing the old connection drops no lock on this one.
    closeConnection();
    keep(opened, paths);
  }
  const holder = readSupervisor(paths);
  if (holder === null) writeHolder(paths, version);
  return holder === null || holder.pid === process.pid;
}

function keep(opened: Database, paths: LockPaths): void {
  connection = opened;
  inode = inodeOf(paths.lockDatabase);
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

/** Null when another process has it. */
function openExclusive(path: string): Database | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new ConvoyError("failed", `cannot lock ${path}: it is not a regular file`, "move it away");
  let database: Database | null = null;
  try {
    database = new Database(path, { create: true });
    chmodSync(path, 0o600);
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    effect("lock-database");
    return database;
  } catch (error) {
    database?.close();
    const code = String((error as { code?: unknown }).code);
    if (code.startsWith("SQLITE_BUSY")) return null;
    const next = code === "SQLITE_NOTADB" ? `when no supervisor runs, remove it: rm '${path}'` : null;
    throw new ConvoyError("failed", `cannot lock ${path}: ${messageOf(error)}`, next);
  }
}

function writeHolder(paths: LockPaths, version: string): void {
  const self = identityOf(process.pid);
  if (self === null) throw new ConvoyError("failed", "this process cannot see itself in the process table");
  try {
    const holder: Holder = { ...self, boot: processTable.boot(), version };
    writeFileAtomic(paths.holder, `${JSON.stringify(holder)}\n`);
    effect("holder-write");
  } catch (error) {
    closeConnection();
    throw new ConvoyError("failed", `cannot write ${paths.holder}: ${messageOf(error)}`);
  }
}

/** The name goes first, so that nobody reads it as the name of a lock that is free. */
function release(paths: LockPaths): void {
  if (connection === null) return;
  if (readSupervisor(paths)?.pid === process.pid) {
    removeFile(paths.holder);
    effect("holder-remove");
  }
  closeConnection();
}

function closeConnection(): void {
  connection?.close();
  connection = null;
}

/** The supervisor that runs, without touching its lock: null unless holder.json names a process that lives. */
export function readSupervisor(paths: Pick<NetworkPaths, "holder">): Holder | null {
  const file = readText(paths.holder);
  if (file.state !== "read") return null;
  const parsed = parseJsonObject(file.text);
  if ("problem" in parsed) return null;
  const { pid, start, boot, version } = parsed.object;
  if (typeof pid !== "number" || typeof start !== "string" || typeof boot !== "string") return null;
  const holder = { pid, start, boot, version: typeof version === "string" ? version : "" };
  return identify(holder, boot) === "ours" ? holder : null;
}

/**
 * The exclusive-create lock of pty's registry (formats §6): contents the locker's decimal pid, stale when that
 * process is dead. Held only around one read-change-write or one launch.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { ConvoyError, errnoOf } from "../errors.ts";
import { systemClock } from "./clock.ts";
import { processTable } from "./processes.ts";

const WAIT_MS = 2_000;
const POLL_MS = 5;
/** A lock file without a pid in it is somebody between create and write; after this long it was a crash. */
const EMPTY_STALE_MS = 1_000;

export interface LockOptions {
  /** How long to wait for the holder; 2 s where formats §6 rules. */
  readonly waitMs?: number;
}

/**
 * Runs `body` while holding the lock file at `path`, and lets it go however `body` ends.
 * Throws a `ConvoyError` "failed" when it stays busy, naming the holder.
 */
export async function withLockFile<T>(
  path: string,
  body: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const release = await acquire(path, options.waitMs ?? WAIT_MS);
  try {
    return await body();
  } finally {
    release();
  }
}

async function acquire(path: string, waitMs: number): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  while (true) {
    const release = tryAcquire(path);
    if (release !== null) return release;
    if (breakStale(path)) continue;
    if (performance.now() >= deadline) {
      throw new ConvoyError("failed", `${path} is held by process ${readHolder(path) ?? "?"}`, "try again");
    }
    await systemClock.sleep(POLL_MS);
  }
}

/** Created whole, by a link to a finished file, so that nobody ever reads it empty. */
function tryAcquire(path: string): (() => void) | null {
  const own = `${path}.tmp.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(own, String(process.pid), { flag: "wx", mode: 0o600 });
  try {
    linkSync(own, path);
    const inode = statSync(own).ino;
    return () => releaseOwn(path, inode);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return null;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function releaseOwn(path: string, inode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.ino === inode) rmSync(path, { force: true });
}

function readHolder(path: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Removes a lock whose holder is dead. True when the caller should try again at once. */
function breakStale(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  const holder = readHolder(path);
  const row = holder === null ? null : processTable.row(holder);
  const dead = row === null || (row !== "hidden" && row.zombie);
  if (!dead) return false;
  if (holder === null && Date.now() - found.mtimeMs < EMPTY_STALE_MS) return false;
  const again = statSync(path, { throwIfNoEntry: false });
  if (again?.ino === found.ino) rmSync(path, { force: true });
  return true;
}

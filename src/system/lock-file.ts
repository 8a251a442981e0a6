/**
 * The exclusive-create lock of pty's registry (formats §6): contents the locker's decimal pid, stale when that
 * process is dead. Held only around one read-change-write or one launch. Locks of convoy's own may name the
 * holder's birth and boot too, so that a recycled pid does not keep them.
 */
import { linkSync, writeFileSync } from "node:fs";
import process from "node:process";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { systemClock } from "./clock.ts";
import { effect } from "./effects.ts";
import { fileIdentity } from "./file-identity.ts";
import { identify, identityOf, processTable, startTimeMs } from "./processes.ts";
import { randomName } from "./random-name.ts";
import { NotRegularError, readRegularFile } from "./regular-file.ts";
import { removeFile } from "./remove-file.ts";

const WAIT_MS = 2_000;
const POLL_MS = 5;
/** A lock file without a pid in it is somebody between create and write; after this long it was a crash. */
const EMPTY_STALE_MS = 1_000;
/**
 * A plain pid may have been recycled. A lock this old whose holder was born clearly after it is nobody's: locks are
 * held for milliseconds, and the two wall-clock times are compared with this much room.
 */
const RECYCLED_AGE_MS = 60_000;
const RECYCLED_SLACK_MS = 10_000;

export interface LockOptions {
  /** How long to wait for the holder; 2 s where formats §6 rules. */
  readonly waitMs?: number;
  /** Write the holder's birth and boot beside its pid; for locks that pty's program never reads. */
  readonly identity?: boolean;
}

/**
 * Runs `body` while holding the lock file at `path`, and lets it go however `body` ends.
 * Throws a `ConvoyError` "failed" when it stays busy, naming the holder, or cannot be made (no folder, no right, no space).
 */
export async function withLockFile<T>(
  path: string,
  body: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const release = await acquire(path, options);
  try {
    return await body();
  } finally {
    release();
  }
}

async function acquire(path: string, options: LockOptions): Promise<() => void> {
  const deadline = performance.now() + (options.waitMs ?? WAIT_MS);
  while (true) {
    const release = tryLockFile(path, options);
    if (release !== null) return release;
    if (performance.now() >= deadline) {
      throw new ConvoyError(
        "failed",
        `${path} is held by process ${readLock(path)?.pid ?? "?"}`,
        "try again",
      );
    }
    await systemClock.sleep(POLL_MS);
  }
}

/**
 * Takes the lock if it is free or its holder is dead, without waiting: its release, or null when it is held.
 * Created whole, by a link to a finished file, so that nobody ever reads it empty.
 */
export function tryLockFile(path: string, options: LockOptions = {}): (() => void) | null {
  return linkLock(path, options) ?? (breakStale(path) ? linkLock(path, options) : null);
}

/** Whether somebody alive holds the lock at `path`. Changes nothing. */
export function isLockHeld(path: string): boolean {
  return stateOf(path) === "held";
}

/** Age and content are taken of one open file: the one at the path may be another a moment later. */
function stateOf(path: string): "absent" | "stale" | "held" {
  const found = readLock(path);
  if (found === null) return "absent";
  return isStale(found) ? "stale" : "held";
}

function linkLock(path: string, options: LockOptions): (() => void) | null {
  const own = `${path}.tmp.${process.pid}.${randomName()}`;
  try {
    writeFileSync(own, lockText(options.identity === true), { flag: "wx", mode: 0o600 });
    effect("temporary-write");
    linkSync(own, path);
    effect("lock-take");
    const identity = fileIdentity(own);
    return () => releaseOwn(path, identity);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return null;
    throw new ConvoyError("failed", `cannot lock ${path}: ${lockFault(error)}`);
  } finally {
    removeFile(own);
    effect("temporary-remove");
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "its folder is gone",
  ENOTDIR: "its folder is not a folder",
  EACCES: "no permission to write in its folder",
  EROFS: "its file system is read-only",
  ENOSPC: "no space left on its file system",
};

function lockFault(error: unknown): string {
  return FAULTS[errnoOf(error) ?? ""] ?? messageOf(error);
}

function lockText(withIdentity: boolean): string {
  const self = withIdentity ? identityOf(process.pid) : null;
  return self === null ? String(process.pid) : `${self.pid} ${self.start} ${processTable.boot()}`;
}

function releaseOwn(path: string, identity: string | null): void {
  if (identity === null || fileIdentity(path) !== identity) return;
  removeFile(path);
  effect("lock-release");
}

interface FoundLock {
  readonly lockedAtMs: number;
  /** Null when there is no pid to read. */
  readonly pid: number | null;
  /** Both null in a plain lock. */
  readonly start: string | null;
  readonly boot: string | null;
}

/** Null when there is no lock. */
function readLock(path: string): FoundLock | null {
  try {
    const { text, stat } = readRegularFile(path);
    return parseLock(text, stat.mtimeMs);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return null;
    if (error instanceof NotRegularError)
      throw new ConvoyError("failed", `the lock ${path} ${error.message}`, "move it away");
    throw new ConvoyError("failed", `cannot read the lock ${path}: ${messageOf(error)}`);
  }
}

function parseLock(text: string, lockedAtMs: number): FoundLock {
  const words = text.trim().split(" ");
  const pid = Number.parseInt(words[0] ?? "", 10);
  if (!Number.isInteger(pid) || pid <= 0) return { lockedAtMs, pid: null, start: null, boot: null };
  // Darwin's birth mark holds spaces; the boot is the last word.
  const boot = words.length > 2 ? (words.at(-1) ?? null) : null;
  return { lockedAtMs, pid, start: boot === null ? null : words.slice(1, -1).join(" "), boot };
}

function isStale({ lockedAtMs, pid, start, boot }: FoundLock): boolean {
  if (pid === null) return Date.now() - lockedAtMs >= EMPTY_STALE_MS;
  if (start !== null && boot !== null) return identify({ pid, start }, boot) === "not-ours";
  const row = processTable.row(pid);
  if (row === null) return true;
  if (row === "hidden") return false;
  if (row.zombie) return true;
  const bornMs = startTimeMs(row);
  const old = Date.now() - lockedAtMs > RECYCLED_AGE_MS;
  return old && bornMs !== null && bornMs > lockedAtMs + RECYCLED_SLACK_MS;
}

/**
 * Removes a lock whose holder is dead; true when the way is free. Only one process at a time may look and remove:
 * of two that both found the lock stale, the slower one would otherwise remove the faster one's new lock. A lock that
 * is absent must not be removed either: somebody may be taking it right now.
 */
function breakStale(path: string): boolean {
  const before = stateOf(path);
  if (before !== "stale") return before === "absent";
  const breaker = linkLock(`${path}.break.tmp`, {});
  if (breaker === null) return removeDeadBreaker(`${path}.break.tmp`);
  try {
    const state = stateOf(path);
    if (state === "stale") {
      removeFile(path);
      effect("lock-break");
    }
    return state !== "held";
  } finally {
    breaker();
  }
}

/** A breaker works for microseconds; one that is dead was killed there. The caller tries again after its pause. */
function removeDeadBreaker(path: string): false {
  const found = readLock(path);
  if (found !== null && Date.now() - found.lockedAtMs > EMPTY_STALE_MS && isStale(found)) {
    removeFile(path);
    effect("lock-break");
  }
  return false;
}

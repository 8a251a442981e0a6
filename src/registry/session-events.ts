/** A session's own log, `<name>.events.jsonl`: appended, and cut from 1000 lines to the newest 500. */
import { statSync } from "node:fs";
import { errnoOf } from "../errors.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import { tryLockFile } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { appendRegularFile, readRegularFile } from "../system/regular-file.ts";

const MAX_LINES = 1_000;
const KEPT_LINES = 500;
/** pty 0.12 holds the log's lock for one append. Longer than this, and the event is appended all the same. */
const LOCK_WAIT_MS = 50;
const POLL_MS = 2;

/** Lines and size of each log as this process left it, so that it is not counted anew for every event. */
const counted = new Map<string, { readonly bytes: number; readonly lines: number }>();

/**
 * Appends one event of session `name` as a line: `session`, `type`, `ts` (now, unless given), then the rest.
 * Throws what the file system throws.
 */
export function appendSessionEvent(
  registry: string,
  name: string,
  event: { readonly type: string; readonly [member: string]: unknown },
): void {
  const paths = sessionPaths(registry, name);
  const { type, ts, session: _, ...rest } = event;
  const stamp = typeof ts === "string" ? ts : systemClock.now().toISOString();
  const line = `${JSON.stringify({ session: name, type, ts: stamp, ...rest })}\n`;
  const release = lockBriefly(paths.eventsLock);
  try {
    appendRegularFile(paths.events, line);
    effect("event-write");
    if (release !== null) truncate(paths.events, Buffer.byteLength(line));
  } finally {
    release?.();
  }
}

function lockBriefly(path: string): (() => void) | null {
  const deadline = performance.now() + LOCK_WAIT_MS;
  while (true) {
    const release = tryLockFile(path);
    if (release !== null || performance.now() >= deadline) return release;
    Bun.sleepSync(POLL_MS);
  }
}

/** Counts the line just written, reading the file only when somebody else has written to it too. */
function truncate(path: string, addedBytes: number): void {
  const known = counted.get(path);
  const size = statSync(path).size;
  if (known !== undefined && known.bytes + addedBytes === size && known.lines + 1 < MAX_LINES) {
    counted.set(path, { bytes: size, lines: known.lines + 1 });
    return;
  }
  let text = read(path);
  let lines = text.split("\n").length - 1;
  if (lines >= MAX_LINES) {
    text = text
      .split("\n")
      .slice(-KEPT_LINES - 1)
      .join("\n");
    lines = KEPT_LINES;
    writeFileAtomic(path, text);
    effect("log-truncate");
  }
  counted.set(path, { bytes: Buffer.byteLength(text), lines });
}

function read(path: string): string {
  try {
    return readRegularFile(path).text;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** The network's own log, `.convoy/events.jsonl`: appended by several processes, rotated at 10 MB, three kept. */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import type { ConvoyEvent } from "../events.ts";
import { effect } from "../system/effects.ts";
import { tryLockFile } from "../system/lock-file.ts";
import { appendRegularFile } from "../system/regular-file.ts";
import { ensureFolder } from "./changes.ts";
import { type EventLog, EventLogReader, KEPT } from "./event-log-reader.ts";

export const ROTATE_BYTES = 10 * 1024 * 1024;

/**
 * Appends events as lines, all in one write, to the log at `path`. Past `rotateBytes` the log becomes `<path>.1`, and
 * the older ones move on; a line written meanwhile by another process lands in one of them. Throws a `ConvoyError`.
 */
export function appendEvents(path: string, events: readonly ConvoyEvent[], rotateBytes = ROTATE_BYTES): void {
  if (events.length === 0) return;
  ensureFolder(dirname(path));
  try {
    if (sizeOf(path) >= rotateBytes) rotate(path, rotateBytes);
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    // A writer that was killed half-way left a line without its end; ours must not be glued to it.
    appendRegularFile(path, endsMidLine(path) ? `\n${lines}` : lines);
  } catch (error) {
    if (error instanceof ConvoyError) throw error;
    throw new ConvoyError("failed", `cannot write ${path}: ${messageOf(error)}`);
  }
  effect("event-write");
}

/** Left to the next append when another process rotates right now. */
function rotate(path: string, rotateBytes: number): void {
  const release = tryLockFile(`${path}.lock`);
  if (release === null) return;
  try {
    if (sizeOf(path) < rotateBytes) return;
    for (let age = KEPT - 1; age >= 1; age -= 1) moveIfThere(`${path}.${age}`, `${path}.${age + 1}`);
    moveIfThere(path, `${path}.1`);
  } finally {
    release();
  }
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
    effect("log-rotate");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function endsMidLine(path: string): boolean {
  if (sizeOf(path) === 0) return false;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) return false;
    const last = Buffer.alloc(1);
    readSync(descriptor, last, 0, 1, Math.max(0, fstatSync(descriptor).size - 1));
    return last.toString() !== "\n";
  } finally {
    closeSync(descriptor);
  }
}

/** Every event that is kept, over the rotated logs too. A missing log is empty; throws when one cannot be read. */
export function readEventLog(path: string): EventLog {
  const reader = new EventLogReader(path);
  try {
    const { events, skipped } = reader.read();
    return { events, skipped: skipped + (reader.endsMidLine() ? 1 : 0) };
  } finally {
    reader.close();
  }
}

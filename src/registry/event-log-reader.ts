/** Reads the network's own log as it grows: each event once, in the order written, over rotations. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import type { ConvoyEvent } from "../events.ts";
import { parseJsonObject } from "../json-members.ts";

/** Rotated logs that are kept: `<path>.1` to `<path>.3`. */
export const KEPT = 3;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface EventLog {
  /** Oldest first. */
  readonly events: readonly ConvoyEvent[];
  /** Lines that are no events: torn by a kill, or not ours. */
  readonly skipped: number;
}

/** One file of the log. It stays open, so that its number is not given to another file while we know it by that. */
interface Tail {
  readonly descriptor: number;
  offset: number;
  /** A line whose end has not been written yet. */
  unfinished: Buffer;
}

export class EventLogReader {
  private readonly path: string;
  /** By file number, oldest first. */
  private tails = new Map<bigint, Tail>();

  constructor(path: string) {
    this.path = path;
  }

  /** What has been written since the last call; on the first, all that is kept. Throws "failed" when it cannot be read. */
  read(): EventLog {
    try {
      const gone = this.findFiles();
      const lines = [...gone, ...this.tails.values()].flatMap(readLines);
      for (const { descriptor } of gone) closeSync(descriptor);
      const found = lines.filter((line) => line !== "").map(parseEventLine);
      const events = found.filter((event) => event !== null);
      return { events, skipped: found.length - events.length };
    } catch (error) {
      throw new ConvoyError("failed", `cannot read ${this.path}: ${messageOf(error)}`);
    }
  }

  /** Passes over all that is there: only what is written from now on is read. Throws as `read` does. */
  skip(): void {
    try {
      this.findFiles();
      for (const tail of this.tails.values()) tail.offset = fstatSync(tail.descriptor).size;
    } catch (error) {
      throw new ConvoyError("failed", `cannot read ${this.path}: ${messageOf(error)}`);
    }
  }

  /** Whether the last line that was read has no end: its writer is at it, or was killed. */
  endsMidLine(): boolean {
    return [...this.tails.values()].some(({ unfinished }) => unfinished.length > 0);
  }

  close(): void {
    for (const { descriptor } of this.tails.values()) closeSync(descriptor);
    this.tails.clear();
  }

  /**
   * Opens what is new; returns what is no longer kept. Newest first: a file that a rotation moves meanwhile is then
   * met twice, never missed.
   */
  private findFiles(): Tail[] {
    const found: [bigint, Tail][] = [];
    for (const name of [this.path, ...Array.from({ length: KEPT }, (_, age) => `${this.path}.${age + 1}`)]) {
      const descriptor = openIfThere(name);
      if (descriptor === null) continue;
      const { ino } = fstatSync(descriptor, { bigint: true });
      const known = this.tails.get(ino) ?? found.find(([other]) => other === ino)?.[1];
      if (known === undefined) found.unshift([ino, { descriptor, offset: 0, unfinished: Buffer.alloc(0) }]);
      else {
        closeSync(descriptor);
        if (!found.some(([other]) => other === ino)) found.unshift([ino, known]);
      }
    }
    const now = new Map(found);
    const gone = [...this.tails].filter(([ino]) => !now.has(ino)).map(([, tail]) => tail);
    this.tails = now;
    return gone;
  }
}

/** Whole lines that were added to one file. */
function readLines(tail: Tail): string[] {
  const { size } = fstatSync(tail.descriptor);
  // Emptied by somebody: what stands in it now is new.
  if (size < tail.offset) Object.assign(tail, { offset: 0, unfinished: Buffer.alloc(0) });
  const parts = [tail.unfinished];
  for (let read = -1; read !== 0; tail.offset += read) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    read = readSync(tail.descriptor, chunk, 0, CHUNK_BYTES, tail.offset);
    parts.push(chunk.subarray(0, read));
  }
  const bytes = Buffer.concat(parts);
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  tail.unfinished = bytes.subarray(end);
  return bytes.subarray(0, end).toString("utf8").split("\n");
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** One line of the log; null when it is no event. */
export function parseEventLine(line: string): ConvoyEvent | null {
  const parsed = parseJsonObject(line);
  if ("problem" in parsed) return null;
  const { ts, type } = parsed.object;
  if (typeof ts !== "string" || typeof type !== "string") return null;
  return parsed.object as unknown as ConvoyEvent;
}

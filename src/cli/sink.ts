/** A standard stream, written synchronously. */
import { fstatSync, statSync, writeSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";

export interface Sink {
  terminal(): boolean;
  /** Columns of the terminal. */
  columns(): number;
  /** False when nobody reads any more. */
  write(text: string): boolean;
}

const RETRY_MS = 2;
const UNKNOWN_COLUMNS = 80;

/** The stream of descriptor 1 or 2. A full pipe is waited for; a closed one, or a terminal that is gone, is said by `write`. */
export function descriptorSink(descriptor: 1 | 2): Sink {
  const stream = () => (descriptor === 1 ? process.stdout : process.stderr);
  return {
    terminal: () => isTerminal(descriptor),
    columns: () => stream().columns || UNKNOWN_COLUMNS,
    write: (text) => (descriptor === 1 ? writeWhole : writeIfPossible)(descriptor, Buffer.from(text, "utf8")),
  };
}

/** Asks `node:tty`, which takes milliseconds to load, only about what may be a terminal. */
function isTerminal(descriptor: number): boolean {
  try {
    const found = fstatSync(descriptor);
    if (!found.isCharacterDevice() || found.rdev === statSync("/dev/null").rdev) return false;
  } catch (error) {
    if (errnoOf(error) === "EBADF") return false;
    throw error;
  }
  return require("node:tty").isatty(descriptor);
}

/** Where messages go: when they cannot be written there is nobody left to tell, and the exit code still says it. */
function writeIfPossible(descriptor: number, bytes: Buffer): boolean {
  try {
    return writeWhole(descriptor, bytes);
  } catch (error) {
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

function writeWhole(descriptor: number, bytes: Buffer): boolean {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(descriptor, bytes, offset);
    } catch (error) {
      const code = errnoOf(error);
      if (code === "EPIPE" || code === "EIO" || code === "EBADF") return false;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
  return true;
}

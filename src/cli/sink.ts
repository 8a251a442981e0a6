/** A standard stream, written synchronously or in the background. */
import { fstatSync, statSync, write, writeSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";

export interface Sink {
  terminal(): boolean;
  /** Columns of the terminal. */
  columns(): number;
  /** False when nobody reads any more. */
  write(text: string): boolean;
  /** Writes in the background; resolves, once it is written, as `write` returns, and rejects where that throws. */
  writeSoon(text: string): Promise<boolean>;
}

const RETRY_MS = 2;
const SOON_MS = 50;
const UNKNOWN_COLUMNS = 80;

/** The stream of descriptor 1 or 2. A full pipe is waited for; a closed one, or a terminal that is gone, is said by `write`. */
export function descriptorSink(descriptor: 1 | 2): Sink {
  const stream = () => (descriptor === 1 ? process.stdout : process.stderr);
  return {
    terminal: () => isTerminal(descriptor),
    columns: () => stream().columns || UNKNOWN_COLUMNS,
    write: (text) => (descriptor === 1 ? writeWhole : writeIfPossible)(descriptor, Buffer.from(text, "utf8")),
    async writeSoon(text) {
      try {
        return await writeInBackground(descriptor, Buffer.from(text, "utf8"));
      } catch (error) {
        if (descriptor === 2 && errnoOf(error) !== null) return false;
        throw error;
      }
    },
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
      if (isNobodyThere(error)) return false;
      if (errnoOf(error) !== "EAGAIN") throw error;
      Bun.sleepSync(RETRY_MS);
    }
  }
  return true;
}

async function writeInBackground(descriptor: number, bytes: Buffer): Promise<boolean> {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += await writeSome(descriptor, bytes, offset);
    } catch (error) {
      if (isNobodyThere(error)) return false;
      if (errnoOf(error) !== "EAGAIN") throw error;
      await Bun.sleep(SOON_MS);
    }
  }
  return true;
}

function writeSome(descriptor: number, bytes: Buffer, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, offset, (error, written) => (error === null ? resolve(written) : reject(error)));
  });
}

function isNobodyThere(error: unknown): boolean {
  return ["EPIPE", "EIO", "EBADF"].includes(errnoOf(error) ?? "");
}

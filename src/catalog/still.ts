/** Reads files once they have been still: a file that is being written counts when its writer has finished. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { errnoOf } from "../errors.ts";
import type { Clock } from "../system/clock.ts";
import { textOf } from "./decode.ts";
import { unreadable } from "./walk.ts";

/** A declaration is a page of text; more is some other file. */
export const MAX_FILE_BYTES = 1 << 20;

export type FileText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly message: string }
  /** It still changed when the time allowed was over. */
  | { readonly kind: "moving" }
  | { readonly kind: "gone" };

type Attempt = FileText | { readonly kind: "young"; readonly readyInMs: number };

export interface StillnessOptions {
  readonly clock: Clock;
  /** How long a file must have been unchanged. */
  readonly settleMs: number;
  /** How long to wait in all, for all files together. */
  readonly maxWaitMs: number;
}

/** The texts of `files` (absolute paths), in their order. Takes no longer than reading when all are old. */
export async function readStill(files: readonly string[], options: StillnessOptions): Promise<FileText[]> {
  const texts: FileText[] = files.map(() => ({ kind: "moving" }));
  const startedMs = options.clock.now().getTime();
  let pending = files.map((_, index) => index);
  while (true) {
    let waitMs = 0;
    const young: number[] = [];
    for (const index of pending) {
      const attempt = readIfStill(files[index]!, options);
      if (attempt.kind === "young") {
        young.push(index);
        waitMs = Math.max(waitMs, attempt.readyInMs);
      } else texts[index] = attempt;
    }
    const leftMs = startedMs + options.maxWaitMs - options.clock.now().getTime();
    if (young.length === 0 || leftMs <= 0) return texts;
    await options.clock.sleep(Math.min(waitMs, leftMs));
    pending = young;
  }
}

function readIfStill(file: string, options: StillnessOptions): Attempt {
  let descriptor: number;
  try {
    // A pipe must not hold up the reader.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "gone" };
    return { kind: "unreadable", message: unreadable(error) };
  }
  try {
    return readOpen(descriptor, options);
  } catch (error) {
    return { kind: "unreadable", message: unreadable(error) };
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, options: StillnessOptions): Attempt {
  const before = fstatSync(descriptor);
  if (!before.isFile()) return { kind: "unreadable", message: "is not a regular file" };
  const readyInMs = readyIn(before, options);
  if (readyInMs > 0) return { kind: "young", readyInMs };
  if (before.size > MAX_FILE_BYTES)
    return {
      kind: "unreadable",
      message: `is over 1 MiB (${before.size} bytes): too large for a declaration`,
    };
  const bytes = readFileSync(descriptor);
  const after = fstatSync(descriptor);
  if (after.ctimeMs !== before.ctimeMs || after.size !== before.size || bytes.length !== before.size)
    return { kind: "young", readyInMs: options.settleMs };
  const text = textOf(bytes);
  return "text" in text ? { kind: "text", text: text.text } : { kind: "unreadable", message: text.problem };
}

/**
 * Milliseconds until the file has been still long enough. A time well in the future is another machine's clock
 * and says nothing.
 */
function readyIn(stats: Stats, { clock, settleMs }: StillnessOptions): number {
  const nowMs = clock.now().getTime();
  const remaining = (changedMs: number): number => {
    const ageMs = nowMs - changedMs;
    return Math.abs(ageMs) < settleMs ? Math.ceil(settleMs - ageMs) : 0;
  };
  return Math.max(remaining(stats.mtimeMs), remaining(stats.ctimeMs));
}

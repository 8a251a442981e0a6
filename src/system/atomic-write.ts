/** Whole-file writes that a reader sees entirely or not at all: temporary file beside the target, then rename. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";
import process from "node:process";
import { effect } from "./effects.ts";
import { randomName } from "./random-name.ts";
import { removeFile } from "./remove-file.ts";

export interface AtomicWriteOptions {
  /** Permission bits of the new file, whatever the umask says. */
  readonly mode?: number;
  /** Who the new file belongs to, where that is not who writes it; only root may give files away. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** Flush to the disk before the rename, where losing the file to a power cut would lose data. */
  readonly sync?: boolean;
  /** Asked when the new file is complete, right before the rename; false leaves the target as it is. */
  readonly stillWanted?: () => boolean;
}

/**
 * Replaces `path` by `content` (text as UTF-8). On any error the target is as it was and the temporary file is gone; the error is thrown.
 * The temporary name `<path>.tmp.<pid>.<rand>` is the one pty's readers ignore.
 * Returns false, with nothing changed, when `stillWanted` said so. The rename is an effect that the caller names.
 */
export function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): boolean {
  const temporary = `${path}.tmp.${process.pid}.${randomName()}`;
  try {
    const descriptor = openSync(temporary, "wx", options.mode ?? 0o600);
    try {
      writeAll(descriptor, typeof content === "string" ? Buffer.from(content, "utf8") : content);
      if (options.owner !== undefined) giveTo(descriptor, options.owner);
      // After the owner: changing that clears special bits.
      if (options.mode !== undefined) fchmodSync(descriptor, options.mode);
      if (options.sync === true) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    effect("temporary-write");
    const wanted = options.stillWanted?.() ?? true;
    if (wanted) renameSync(temporary, path);
    else removeTemporary(temporary);
    return wanted;
  } catch (error) {
    removeTemporary(temporary);
    throw error;
  }
}

function removeTemporary(path: string): void {
  removeFile(path);
  effect("temporary-remove");
}

function giveTo(descriptor: number, owner: { readonly uid: number; readonly gid: number }): void {
  const made = fstatSync(descriptor);
  if (made.uid !== owner.uid || made.gid !== owner.gid) fchownSync(descriptor, owner.uid, owner.gid);
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  let offset = 0;
  while (offset < bytes.length) offset += writeSync(descriptor, bytes, offset);
}

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

/** A complete new file beside its target, under the temporary name. */
export interface PreparedFile {
  /** Renames it over the target. On an error the target is as it was, the temporary file is gone, and the error is thrown. */
  put(): void;
  /** Removes it; the target is as it was. */
  drop(): void;
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
  const prepared = prepareFile(path, content, options);
  const wanted = options.stillWanted === undefined || isWanted(prepared, options.stillWanted);
  if (wanted) prepared.put();
  else prepared.drop();
  return wanted;
}

function isWanted(prepared: PreparedFile, stillWanted: () => boolean): boolean {
  try {
    return stillWanted();
  } catch (error) {
    prepared.drop();
    throw error;
  }
}

/**
 * The first half of `writeFileAtomic`, for one who must do the second at a moment of its own: exactly one of `put` and
 * `drop` is to be called. On any error nothing is left; the error is thrown.
 */
export function prepareFile(
  path: string,
  content: string | Uint8Array,
  options: Omit<AtomicWriteOptions, "stillWanted"> = {},
): PreparedFile {
  const temporary = `${path}.tmp.${process.pid}.${randomName()}`;
  const drop = () => removeTemporary(temporary);
  const orDrop = (act: () => void) => {
    try {
      act();
    } catch (error) {
      drop();
      throw error;
    }
  };
  orDrop(() => writeTemporary(temporary, content, options));
  effect("temporary-write");
  return { put: () => orDrop(() => renameSync(temporary, path)), drop };
}

function writeTemporary(
  temporary: string,
  content: string | Uint8Array,
  options: Omit<AtomicWriteOptions, "stillWanted">,
): void {
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

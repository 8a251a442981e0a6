/** Replaces the contents of a file that people own: links, permissions and owner stay. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import process from "node:process";
import { writeFileAtomic } from "../system/atomic-write.ts";

/** Throws when the file, or what its link leads to, is not there or not writable; it is then as it was. */
export function replaceThroughLinks(file: string, text: string): void {
  const target = realpathSync(file);
  accessSync(target, constants.W_OK);
  const { mode, uid, gid } = statSync(target);
  // Only root may give a file away; anybody else's rewrite of a shared file is then their own.
  const owner = process.getuid?.() === 0 ? { owner: { uid, gid } } : {};
  writeFileAtomic(target, text, { mode: mode & 0o7777, ...owner });
}

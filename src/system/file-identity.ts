/** Which file stands at a path: not by its inode's number alone, which a file system may give again at once. */
import { lstatSync } from "node:fs";

/** Equal for the same file only, however it is renamed or linked; links are not followed. Null when there is none. */
export function fileIdentity(path: string): string | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino}:${found.birthtimeNs}`;
}

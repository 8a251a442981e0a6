/** Removal of one file that may be gone already. */
import { unlinkSync } from "node:fs";
import { errnoOf } from "../errors.ts";

/** Removes the file at `path`; being gone, with or without its folder, is what was wanted. Throws any other error. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== "ENOENT" && errno !== "ENOTDIR") throw error;
  }
}

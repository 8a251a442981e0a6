/** What a folder holds, to show that a command changed nothing in it. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A digest of every name, kind, mode, time of change and byte below `folder`. */
export function hashTree(folder: string): string {
  const hash = createHash("sha256");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of ["", ...names]) {
    const path = join(folder, name);
    const found = lstatSync(path);
    hash.update(`${name}\0${found.mode}\0${found.ino}\0${found.mtimeMs}\0`);
    if (found.isFile()) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

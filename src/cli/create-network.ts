/** The four folders of a network. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { networkPaths } from "../system/paths.ts";

const REGISTRY_MODE = 0o700;

/** Creates what is missing under `root` (absolute) and makes the registry private. Returns the folders that are new. */
export function createNetwork(root: string): string[] {
  const { catalog, smalltalk, pty, worktrees } = networkPaths(root);
  const created = [catalog, smalltalk, pty, worktrees].filter((path) => createFolder(path, path === pty));
  if ((statSync(pty).mode & 0o777) !== REGISTRY_MODE) chmodSync(pty, REGISTRY_MODE);
  return created;
}

function createFolder(path: string, isPrivate: boolean): boolean {
  try {
    return mkdirSync(path, { recursive: true, mode: isPrivate ? REGISTRY_MODE : 0o777 }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" || errnoOf(error) === "ENOTDIR") {
      throw new ConvoyError(
        "failed",
        `${path} cannot be a folder: a file is in the way`,
        "move it away, or name another network",
      );
    }
    throw new ConvoyError(
      "failed",
      `cannot create ${path}: ${messageOf(error)}`,
      "name a network in a folder that you may write to",
    );
  }
}

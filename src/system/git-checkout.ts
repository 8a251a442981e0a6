/** Which checkout of a git repository a folder is in, read from git's own files (gitrepository-layout), without git. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errnoOf } from "../errors.ts";

export interface GitCheckout {
  /** The folder in which `.git` stands. */
  readonly root: string;
  readonly gitDir: string;
  /** What all checkouts of the repository share: of a linked worktree another folder, else `gitDir`. */
  readonly commonDir: string;
}

/**
 * The checkout of the nearest folder upwards from `folder` that has a `.git`, as these files name it; null when there
 * is none, or the file `.git` is not git's. Throws system errors.
 */
export function readGitCheckout(folder: string): GitCheckout | null {
  for (let root = folder; ; root = dirname(root)) {
    const found = statSync(join(root, ".git"), { throwIfNoEntry: false });
    if (found?.isFile()) return readPointer(root);
    if (found !== undefined) {
      const gitDir = join(root, ".git");
      return { root, gitDir, commonDir: gitDir };
    }
    if (dirname(root) === root) return null;
  }
}

/** Of a linked worktree, a submodule, or a repository that keeps its `.git` elsewhere. */
function readPointer(root: string): GitCheckout | null {
  const pointer = /^gitdir:(.*)/.exec(readGitLine(join(root, ".git")));
  if (pointer === null) return null;
  const gitDir = resolve(root, (pointer[1] ?? "").trim());
  return { root, gitDir, commonDir: readCommonDir(gitDir) };
}

function readCommonDir(gitDir: string): string {
  try {
    return resolve(gitDir, readGitLine(join(gitDir, "commondir")));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return gitDir;
    throw error;
  }
}

/** A file of git's that holds one line. */
export function readGitLine(path: string): string {
  return readFileSync(path, "utf8").trim();
}

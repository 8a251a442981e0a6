/** Which checkout a linked git worktree belongs to, read from git's own files (gitrepository-layout), without git. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf } from "../errors.ts";

/**
 * The real path of the main checkout of the linked worktree that `folder` (a real path) is in, or of the bare
 * repository where there is no main checkout; null when `folder` is in no linked worktree. What cannot be read, or is
 * not confirmed by the repository itself, names no checkout: a folder must not get another one trusted by naming it.
 */
export function readMainCheckout(folder: string): string | null {
  try {
    const root = readRoot(folder);
    return root === null ? null : readOwner(root);
  } catch (error) {
    // A system error: the worktree is broken or closed to us, and its own folder is trusted all the same.
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

/** The nearest folder upwards whose `.git` is a file; null when a `.git` folder, or nothing, comes first. */
function readRoot(folder: string): string | null {
  let at = folder;
  while (true) {
    const found = statSync(join(at, ".git"), { throwIfNoEntry: false });
    if (found !== undefined) return found.isFile() ? at : null;
    const parent = dirname(at);
    if (parent === at) return null;
    at = parent;
  }
}

function readOwner(root: string): string | null {
  const pointer = /^gitdir:(.*)/.exec(readLine(join(root, ".git")));
  if (pointer === null) return null;
  const gitDir = resolve(root, (pointer[1] ?? "").trim());
  const common = resolve(gitDir, readLine(join(gitDir, "commondir")));
  if (dirname(gitDir) !== join(common, "worktrees")) return null;
  const backlink = resolve(gitDir, readLine(join(gitDir, "gitdir")));
  if (realpathSync(backlink) !== join(realpathSync(root), ".git")) return null;
  return realpathSync(basename(common) === ".git" ? dirname(common) : common);
}

function readLine(path: string): string {
  return readFileSync(path, "utf8").trim();
}

/** Which checkout a linked git worktree belongs to, read from git's own files (gitrepository-layout), without git. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf } from "../errors.ts";
import { type GitCheckout, readGitCheckout, readGitLine } from "../system/git-checkout.ts";

/**
 * The real path of the main checkout of the linked worktree that `folder` (a real path) is in, or of the bare
 * repository where there is no main checkout; null when `folder` is in no linked worktree. What cannot be read, or is
 * not confirmed by the repository itself, names no checkout: a folder must not get another one trusted by naming it.
 */
export function readMainCheckout(folder: string): string | null {
  try {
    const checkout = readGitCheckout(folder);
    return checkout === null ? null : readOwner(checkout);
  } catch (error) {
    // A system error: the worktree is broken or closed to us, and its own folder is trusted all the same.
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

function readOwner({ root, gitDir, commonDir }: GitCheckout): string | null {
  if (dirname(gitDir) !== join(commonDir, "worktrees")) return null;
  const backlink = resolve(gitDir, readGitLine(join(gitDir, "gitdir")));
  if (realpathSync(backlink) !== join(realpathSync(root), ".git")) return null;
  return realpathSync(basename(commonDir) === ".git" ? dirname(commonDir) : commonDir);
}

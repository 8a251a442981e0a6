/** Keeps rendered files out of `git status`: lines in the repository's own `info/exclude`, which nobody commits. */
import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { errnoOf, messageOf } from "../errors.ts";
import { mergeExclude } from "../render.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { effect } from "../system/effects.ts";
import { readGitCheckout } from "../system/git-checkout.ts";

const NEW_FILE_MODE = 0o644;
/** How often to begin again because another program wrote meanwhile. */
const ATTEMPTS = 5;

/**
 * Adds the lines that are missing for `files` (real, absolute), each in the repository that it is in; a file in none
 * needs nothing. Returns a line for each repository where that failed.
 */
export function excludeFromGit(files: readonly string[]): string[] {
  const problems = new Set<string>();
  const byExclude = new Map<string, string[]>();
  for (const file of files) {
    try {
      const found = findExclude(file);
      if (found === null) continue;
      byExclude.set(found.exclude, [...(byExclude.get(found.exclude) ?? []), found.path]);
    } catch (error) {
      problems.add(describe(dirname(file), error));
    }
  }
  for (const [exclude, paths] of byExclude) {
    try {
      if (!addLines(exclude, paths)) problems.add(`${exclude}: other programs keep writing it`);
    } catch (error) {
      problems.add(describe(exclude, error));
    }
  }
  return [...problems];
}

/** The `info/exclude` that git reads for `file`, and the file's path from the checkout's root. */
function findExclude(file: string): { exclude: string; path: string } | null {
  const checkout = readGitCheckout(nearestFolder(dirname(file)));
  if (checkout === null || !isRepository(checkout.commonDir)) return null;
  return { exclude: join(checkout.commonDir, "info", "exclude"), path: relative(checkout.root, file) };
}

/** Folders on the way to a file that is still to come may be still to come too. */
function nearestFolder(folder: string): string {
  let at = folder;
  while (statSync(at, { throwIfNoEntry: false }) === undefined) at = dirname(at);
  return at;
}

/** As git itself tells one. */
function isRepository(gitDir: string): boolean {
  const has = (name: string) => statSync(join(gitDir, name), { throwIfNoEntry: false });
  return (
    has("HEAD")?.isFile() === true && has("objects")?.isDirectory() === true && has("refs") !== undefined
  );
}

function addLines(exclude: string, paths: readonly string[]): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const text = readIfThere(exclude);
    const merged = mergeExclude(text, paths);
    if (merged === null) return true;
    const target = text === null ? exclude : realpathSync(exclude);
    const mode = text === null ? NEW_FILE_MODE : statSync(target).mode & 0o7777;
    if (text === null) makeFolders(dirname(exclude));
    if (writeFileAtomic(target, merged, { mode, stillWanted: () => readIfThere(exclude) === text })) {
      effect("exclude-write");
      return true;
    }
  }
  return false;
}

export function makeFolders(folder: string): void {
  if (mkdirSync(folder, { recursive: true }) !== undefined) effect("folder-create");
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

function describe(where: string, error: unknown): string {
  if (errnoOf(error) === null) throw error;
  return `${where}: rendered files are not kept out of git status: ${messageOf(error)}`;
}

/**
 * Which folders the harnesses must trust, in which of their config files: the one batch that `up` and `pretrust` share.
 * Pure: the files are reached through `TrustAccess`.
 */
import { basename, dirname, join, resolve } from "node:path";
import type { HarnessName } from "./declaration.ts";
import { mergeClaudeTrust } from "./trust-claude.ts";
import { mergeCodexTrust } from "./trust-codex.ts";

export { type ClaudeTrust, mergeClaudeTrust } from "./trust-claude.ts";
export { type CodexTrust, mergeCodexTrust } from "./trust-codex.ts";

export interface TrustRequest {
  readonly harness: HarnessName;
  /** Absolute path of the folder that the agent is started in; any spelling. */
  readonly workspace: string;
  /** The environment that the agent will really get: HOME, PATH, CLAUDE_CONFIG_DIR and CODEX_HOME count. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One config file and what became of it. */
export interface TrustedFile {
  readonly path: string;
  readonly written: boolean;
  /** Real paths that were written. */
  readonly added: readonly string[];
  /** Real paths about which the file says something else, left alone. */
  readonly refused: readonly string[];
  /** Why the trust that is missing was not written, naming the file; null when nothing is wrong. */
  readonly problem: string | null;
  /** Why there was nothing to do for a file that does not exist; null otherwise. */
  readonly note: string | null;
}

export interface PretrustReport {
  /** A row per config file, in the order in which the requests first name them. */
  readonly files: readonly TrustedFile[];
  /** Folders that are not there yet, under the name that was trusted for them. */
  readonly missing: readonly string[];
  /** Requests for which no path or no config file could be named. */
  readonly unresolved: readonly { readonly workspace: string; readonly problem: string }[];
}

export type TrustMerge =
  | {
      readonly text: string;
      readonly changed: boolean;
      readonly added: readonly string[];
      readonly refused: readonly string[];
    }
  | { readonly problem: string };

export interface ConfigFile {
  readonly path: string;
  /** Whether its program locks it with a folder `<path>.lock` (formats §8). */
  readonly locked: boolean;
  /** The folder to create for it when that is missing; null for one that must exist. */
  readonly folder: string | null;
}

export interface ConfigUpdate {
  /** What the last merge said; null also when the file could not be read. */
  readonly merged: TrustMerge | null;
  readonly written: boolean;
  /** What is wrong, naming the file; null when nothing is. */
  readonly problem: string | null;
}

/** What the batch needs of the disk. */
export interface TrustAccess {
  /**
   * The path under which a process started there finds itself. Of a folder that does not exist the nearest parent
   * that does is resolved, and the rest put behind it.
   */
  readRealPath(path: string): { path: string; exists: boolean } | { problem: string };
  /** The main checkout of the linked git worktree that `folder` (a real path) is in; null when it is in none. */
  readMainCheckout(folder: string): string | null;
  readFileExists(path: string): boolean;
  readFolderExists(path: string): boolean;
  /** Whether `program` is an executable file in a folder of `pathValue`. */
  readIsOnPath(program: string, pathValue: string): boolean;
  /**
   * Reads the file (null when there is none), merges, and writes once when the merge says so, without losing what
   * others write meanwhile. Null from `merge` leaves the file as it is.
   */
  updateConfig(file: ConfigFile, merge: (text: string | null) => TrustMerge | null): Promise<ConfigUpdate>;
}

interface Target extends ConfigFile {
  readonly harness: "claude" | "codex";
  readonly installed: boolean;
}

/**
 * Makes every requested workspace trusted in the config file that its agent will read: one write per file for the
 * whole batch, none where nothing is missing. Never throws for what is wrong with a file: that is in its row.
 */
export async function pretrust(
  requests: readonly TrustRequest[],
  access: TrustAccess,
): Promise<PretrustReport> {
  const groups = new Map<string, { target: Target; installed: boolean; folders: Set<string> }>();
  const missing = new Set<string>();
  const unresolved: { workspace: string; problem: string }[] = [];
  for (const request of requests) {
    const found = resolveRequest(request, access);
    if (found === null) continue;
    if ("problem" in found) {
      unresolved.push({ workspace: request.workspace, problem: found.problem });
      continue;
    }
    const { target, folders, exists } = found;
    if (!exists) for (const folder of folders.slice(0, 1)) missing.add(folder);
    const key = identityOf(target.path, access);
    const group = groups.get(key) ?? { target, installed: false, folders: new Set<string>() };
    group.installed ||= target.installed;
    for (const folder of folders) group.folders.add(folder);
    groups.set(key, group);
  }
  const files = await Promise.all(
    [...groups.values()].map(({ target, installed, folders }) =>
      updateFile({ ...target, installed }, [...folders], access),
    ),
  );
  return { files, missing: [...missing], unresolved };
}

/** Two names of one file, through a link among the folders above it, are one group. */
function identityOf(path: string, access: TrustAccess): string {
  const folder = access.readRealPath(dirname(path));
  return "problem" in folder ? path : join(folder.path, basename(path));
}

async function updateFile(
  target: Target,
  folders: readonly string[],
  access: TrustAccess,
): Promise<TrustedFile> {
  const untouched = { path: target.path, written: false, added: [], refused: [], problem: null, note: null };
  const { merged, written, problem } = await access.updateConfig(target, (text) =>
    text === null && !target.installed ? null : mergeTrust(target.harness, text, folders),
  );
  if (problem !== null && !written) return { ...untouched, problem };
  if (merged === null) {
    const note = `${target.harness} is not on the agent's PATH and has no folder here: no config file was made`;
    return { ...untouched, note };
  }
  if ("problem" in merged) return { ...untouched, problem };
  return { ...untouched, written, added: written ? merged.added : [], refused: merged.refused, problem };
}

function mergeTrust(harness: Target["harness"], text: string | null, folders: readonly string[]): TrustMerge {
  if (harness === "codex") return mergeCodexTrust(text, folders);
  const merged = mergeClaudeTrust(text, folders);
  return "problem" in merged ? merged : { ...merged, refused: [] };
}

type Resolved = { target: Target; folders: string[]; exists: boolean };

/** Null for a harness without a trust question. */
function resolveRequest(request: TrustRequest, access: TrustAccess): Resolved | { problem: string } | null {
  const { harness, workspace, env } = request;
  if (harness !== "claude" && harness !== "codex") return null;
  const real = access.readRealPath(workspace);
  if ("problem" in real) return real;
  const target = targetOf(harness, env, real.path, access);
  if (target === null) return { problem: "HOME is not set in the agent's environment" };
  const main = access.readMainCheckout(real.path);
  return { target, folders: main === null ? [real.path] : [real.path, main], exists: real.exists };
}

/**
 * The config file that the program reads with this environment, `cwd` being where it is started. An empty variable
 * counts as unset, as both programs have it.
 */
function targetOf(
  harness: Target["harness"],
  env: TrustRequest["env"],
  cwd: string,
  access: TrustAccess,
): Target | null {
  const variable = harness === "claude" ? "CLAUDE_CONFIG_DIR" : "CODEX_HOME";
  const relocated = env[variable] ? resolve(cwd, env[variable]) : null;
  const home = env.HOME ? resolve(cwd, env.HOME) : null;
  const folder = relocated ?? (home === null ? null : join(home, `.${harness}`));
  if (folder === null) return null;
  const installed = access.readFolderExists(folder) || access.readIsOnPath(harness, env.PATH ?? "");
  if (harness === "codex") {
    return { harness, path: join(folder, "config.toml"), locked: false, folder, installed };
  }
  // Claude Code 2.1.197 prefers this file, from its early days, where it exists.
  const early = join(folder, ".config.json");
  const path = access.readFileExists(early) ? early : join(relocated ?? home ?? folder, ".claude.json");
  return { harness, path, locked: true, folder: relocated, installed };
}

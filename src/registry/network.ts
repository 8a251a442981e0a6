/** A network's folders: what of them is there, and making them. */
import { chmodSync, mkdirSync, type Stats, statSync } from "node:fs";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { effect } from "../system/effects.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { listLedgerNames } from "./folder.ts";

const PRIVATE = 0o700;

/** What of a network is there. `up` may work on one with a catalog or with a ledger; on no other. */
export interface NetworkPresence {
  readonly root: boolean;
  readonly catalog: boolean;
  readonly ledgers: boolean;
}

/** Looks, and creates nothing. Throws a `ConvoyError` when it may not look. */
export function inspectNetwork(paths: NetworkPaths): NetworkPresence {
  const root = isFolder(paths.root);
  const ledgers = root && listLedgerNames(paths.pty).length > 0;
  return { root, catalog: root && hasCatalog(paths, ledgers), ledgers };
}

/** What ran is supervised whatever stands in the catalog's place: the catalog's reader says what is wrong with it. */
function hasCatalog({ catalog }: NetworkPaths, ledgers: boolean): boolean {
  try {
    return isFolder(catalog);
  } catch (error) {
    if (ledgers && error instanceof ConvoyError) return false;
    throw error;
  }
}

/**
 * Makes the four folders of a network where they are missing; `pty` is for this user alone. Returns the folders made,
 * none when all was there. Throws a `ConvoyError` naming what is in the way.
 */
export function createNetwork(paths: NetworkPaths): string[] {
  const made: string[] = [];
  for (const path of [paths.root, paths.catalog, paths.smalltalk, paths.pty, paths.worktrees]) {
    if (isFolder(path)) continue;
    try {
      mkdirSync(path, { recursive: true, mode: path === paths.pty ? PRIVATE : 0o777 });
      effect("folder-create");
    } catch (error) {
      throw new ConvoyError(
        "failed",
        `cannot create ${path}: ${messageOf(error)}`,
        "name a network in a folder that you may write to",
      );
    }
    if (path !== paths.root) made.push(path);
  }
  keepPrivate(paths.pty);
  return made;
}

function keepPrivate(path: string): void {
  if (((stat(path)?.mode ?? PRIVATE) & 0o777) === PRIVATE) return;
  try {
    chmodSync(path, PRIVATE);
    effect("folder-mode");
  } catch (error) {
    throw new ConvoyError("failed", `cannot keep ${path} private: ${messageOf(error)}`);
  }
}

function isFolder(path: string): boolean {
  const found = stat(path);
  if (found === undefined) return false;
  if (found.isDirectory()) return true;
  const next = "move it away, or name another network";
  throw new ConvoyError("failed", `${path} cannot be a folder: a file is in the way`, next);
}

function stat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === "ENOTDIR") return undefined;
    throw new ConvoyError("failed", `cannot look at ${path}: ${messageOf(error)}`);
  }
}

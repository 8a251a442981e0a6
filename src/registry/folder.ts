/** The registry's folders: what is listed in them, and whose files it is. */
import { type Dirent, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { isSessionName } from "../identity.ts";

export interface RegistryProblem {
  /** Relative to the registry folder. */
  readonly file: string;
  readonly message: string;
}

export const RECORD_SUFFIX = ".json";
/** The ledgers' folder, relative to the registry. */
export const LEDGERS = ".convoy/sessions";

/** Names of the sessions that the pty folder `registry` has ledgers of. Throws as `readRegistry` does. */
export function listLedgerNames(registry: string): string[] {
  return sessionNames(LEDGERS, listFolder(join(registry, LEDGERS)), []).sort();
}

/** Sessions that `entries` of `folder` (relative to the registry) are named for; what is not is reported. */
export function sessionNames(
  folder: string,
  entries: readonly Dirent[],
  problems: RegistryProblem[],
): string[] {
  const names: string[] = [];
  for (const entry of entries) {
    if (!entry.name.endsWith(RECORD_SUFFIX)) continue;
    const name = entry.name.slice(0, -RECORD_SUFFIX.length);
    const file = join(folder, entry.name);
    if (!isSessionName(name)) problems.push({ file, message: "is not named as a session's file; skipped" });
    else if (entry.isDirectory()) problems.push({ file, message: "is a directory; skipped" });
    else names.push(name);
  }
  return names;
}

/** What is in a folder; nothing when it is missing. Throws a `ConvoyError` when it cannot be listed. */
export function listFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw new ConvoyError("failed", `cannot list ${path}: ${messageOf(error)}`);
  }
}

/** File names of the sockets among the registry's entries, links to sockets too. */
export function socketNames(registry: string, entries: readonly Dirent[]): Set<string> {
  const sockets = entries.filter(
    (entry) => entry.isSocket() || (entry.isSymbolicLink() && isSocket(join(registry, entry.name))),
  );
  return new Set(sockets.map((entry) => entry.name));
}

export function isSocket(path: string): boolean {
  return statOf(path)?.isSocket() ?? false;
}

/** Undefined when it is not there or may not be looked at. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) !== null) return undefined;
    throw error;
  }
}

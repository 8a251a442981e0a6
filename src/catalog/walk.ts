/** Finds the files of a catalog folder: recursive, sorted, nothing hidden, behind links too, each real folder once. */
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import type { CatalogReading } from "../catalog-reading.ts";
import type { Problem } from "../declaration.ts";
import { errnoOf, messageOf } from "../errors.ts";
import { classifyFileName, type DeclarationExtension, extensionOf, isConflictFolder } from "../leftovers.ts";

/** Folders below the catalog that are looked into, one inside another. */
export const MAX_DEPTH = 16;
/** Folders in all: a link may lead to a whole disk. */
export const MAX_FOLDERS = 50_000;

export interface FoundFile {
  /** Relative to the catalog, `/` between its parts. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly extension: DeclarationExtension;
}

export interface CatalogWalk {
  readonly state: CatalogReading["state"];
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  readonly problems: readonly Problem[];
}

interface Link {
  readonly path: string;
  readonly real: string;
  readonly depth: number;
}

interface Walk {
  readonly root: string;
  readonly files: FoundFile[];
  readonly problems: Problem[];
  /** Real paths of folders and files already taken. */
  readonly seen: Set<string>;
  /** Links found, followed after everything real, so that a file is named by its own place. */
  readonly links: Link[];
  folders: number;
}

/** Lists the declaration files under `catalogDir`. Nothing is opened. */
export function walkCatalog(catalogDir: string): CatalogWalk {
  let root: string;
  try {
    root = realpathSync(catalogDir);
    readdirSync(root);
  } catch (error) {
    const state = errnoOf(error) === "ENOENT" ? "missing" : "unreadable";
    const message =
      state === "missing" ? "the catalog folder is missing" : `the catalog folder ${unreadable(error)}`;
    return { state, files: [], problems: [{ severity: "error", path: ".", line: null, message }] };
  }
  const walk: Walk = { root, files: [], problems: [], seen: new Set(), links: [], folders: 0 };
  walkFolder(walk, { path: "", real: root, depth: 0 });
  for (let link = walk.links.shift(); link !== undefined; link = walk.links.shift()) followLink(walk, link);
  walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { state: "read", files: walk.files, problems: walk.problems };
}

function walkFolder(walk: Walk, folder: Link): void {
  if (walk.seen.has(folder.real)) return;
  walk.seen.add(folder.real);
  walk.folders += 1;
  if (folder.depth > MAX_DEPTH) {
    report(walk, "warning", folder.path, `is more than ${MAX_DEPTH} folders deep: not looked into`);
    return;
  }
  if (walk.folders > MAX_FOLDERS) {
    if (walk.folders === MAX_FOLDERS + 1)
      report(
        walk,
        "warning",
        folder.path,
        `the catalog has more than ${MAX_FOLDERS} folders: the rest is not looked into`,
      );
    return;
  }
  let entries: Dirent[];
  try {
    entries = readdirSync(folder.real, { withFileTypes: true });
  } catch (error) {
    if (!isGone(error)) report(walk, "error", folder.path, unreadable(error));
    return;
  }
  const visible = entries.filter((entry) => !entry.name.startsWith("."));
  visible.sort((a, b) => (a.name < b.name ? -1 : 1));
  warnOfCase(walk, folder, visible);
  const names = new Set(visible.map((entry) => entry.name));
  for (const entry of visible) {
    const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
    const child: Link = { path, real: join(folder.real, entry.name), depth: folder.depth + 1 };
    if (entry.isDirectory()) walkNamedFolder(walk, child, entry.name);
    else if (entry.isSymbolicLink()) noteLink(walk, child, entry.name, names);
    else addFile(walk, child, entry.name, names);
  }
}

function walkNamedFolder(walk: Walk, folder: Link, name: string): void {
  if (isConflictFolder(name)) reportConflictCopy(walk, folder.path);
  else walkFolder(walk, folder);
}

function addFile(walk: Walk, found: Link, name: string, siblings: ReadonlySet<string>): void {
  const extension = extensionOf(name);
  const kind = classifyFileName(name, siblings);
  if (kind === "conflict-copy") reportConflictCopy(walk, found.path);
  if (kind !== "declaration" || extension === null || walk.seen.has(found.real)) return;
  walk.seen.add(found.real);
  walk.files.push({ path: found.path, file: found.real, extension });
}

/** A link to a file is judged by its own name, here where its siblings are known. */
function noteLink(walk: Walk, link: Link, name: string, siblings: ReadonlySet<string>): void {
  const kind = classifyFileName(name, siblings);
  if (kind === "conflict-copy" || isConflictFolder(name)) reportConflictCopy(walk, link.path);
  else if (kind !== "leftover") walk.links.push(link);
}

function followLink(walk: Walk, link: Link): void {
  const extension = extensionOf(link.path.slice(link.path.lastIndexOf("/") + 1));
  let real: string;
  let isFolder: boolean;
  try {
    real = realpathSync(link.real);
    isFolder = statSync(real).isDirectory();
  } catch (error) {
    // A link that leads nowhere is what an editor's lock or an unmounted disk looks like.
    if (!isGone(error) && errnoOf(error) !== "ELOOP") report(walk, "error", link.path, unreadable(error));
    return;
  }
  if (isFolder && `${walk.root}${sep}`.startsWith(real === sep ? sep : `${real}${sep}`)) {
    if (real !== walk.root)
      report(walk, "warning", link.path, "is a link to a folder that holds the catalog itself: not followed");
    return;
  }
  if (isFolder) walkFolder(walk, { ...link, real });
  if (isFolder || extension === null || walk.seen.has(real)) return;
  walk.seen.add(real);
  walk.files.push({ path: link.path, file: real, extension });
}

/** Two names here that are one name on a machine that ignores case. */
function warnOfCase(walk: Walk, folder: Link, entries: readonly Dirent[]): void {
  const byFolded = new Map<string, string>();
  for (const { name } of entries) {
    const other = byFolded.get(name.toLowerCase());
    if (other === undefined) byFolded.set(name.toLowerCase(), name);
    else
      report(
        walk,
        "warning",
        folder.path === "" ? name : `${folder.path}/${name}`,
        `differs from "${other}" beside it only in case: they are one and the same on some machines`,
      );
  }
}

function reportConflictCopy(walk: Walk, path: string): void {
  report(
    walk,
    "warning",
    path,
    "is a conflict copy left by a sync tool: not read; merge what you need and delete it",
  );
}

function report(walk: Walk, severity: Problem["severity"], path: string, message: string): void {
  walk.problems.push({ severity, path, line: null, message });
}

function isGone(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** `cannot be read: permission denied (EACCES)`. */
export function unreadable(error: unknown): string {
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "permission denied",
    EPERM: "not permitted",
    EIO: "the disk reports an error",
    ELOOP: "its links lead in a circle",
    ENOTDIR: "something on its path is not a folder",
    ENXIO: "it is not a regular file",
  };
  const code = errnoOf(error);
  const reason = code === null ? undefined : reasons[code];
  return reason === undefined ? `cannot be read: ${messageOf(error)}` : `cannot be read: ${reason} (${code})`;
}

/** The files that `render` means, as they are on the disk. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, messageOf } from "../errors.ts";
import { isInGitFolder, type RenderSource } from "../render.ts";

/** A folder deeper than this is a mistake. */
const MOST_LEVELS = 32;
const OWN_BITS = 0o777;
const CONTROL = /[\x00-\x1f\x7f]/;

export interface FoundSource {
  /** Absolute. */
  readonly source: string;
  /** Relative to the workspace. */
  readonly dest: string;
  readonly mode: number;
}

export interface FoundSources {
  /** One for each destination. */
  readonly files: readonly FoundSource[];
  /** A line each: what is not rendered, and why. */
  readonly problems: readonly string[];
}

interface Search {
  readonly files: Map<string, FoundSource>;
  readonly problems: string[];
}

/** Follows links, folders too; git's own folders are passed over. Throws nothing that the disk may say. */
export function findSources(sources: readonly RenderSource[]): FoundSources {
  const search: Search = { files: new Map(), problems: [] };
  for (const source of sources) addSource(source, search, []);
  return { files: [...search.files.values()], problems: search.problems };
}

/** `above`: the real folders on the way. */
function addSource(one: RenderSource, search: Search, above: readonly string[]): void {
  const { source, dest } = one;
  try {
    const problem = nameProblem(one) ?? addFound(one, search, above);
    if (problem !== null) search.problems.push(problem);
  } catch (error) {
    const code = errnoOf(error);
    if (code === null) throw error;
    const why = code === "ENOENT" ? "is not there" : `cannot be read: ${messageOf(error)}`;
    search.problems.push(`${dest === "" ? "." : dest}: ${source} ${why}`);
  }
}

/** A line break in a name would be two lines in git's list. */
function nameProblem({ source, dest }: RenderSource): string | null {
  if (!CONTROL.test(dest)) return null;
  const [folder, name] = [dirname(source), JSON.stringify(dest.slice(dest.lastIndexOf("/") + 1))];
  return `${folder} holds a name with a control character: ${name}`;
}

/** What is wrong with it, if anything. */
function addFound(one: RenderSource, search: Search, above: readonly string[]): string | null {
  const { kind, source, dest } = one;
  const where = `${dest === "" ? "." : dest}: ${source}`;
  const stats = statSync(source);
  if (kind === "file") {
    if (stats.isDirectory()) return `${where} is a folder: that is render.dir`;
    if (!stats.isFile()) return `${where} is neither file nor folder`;
    search.files.set(dest, { source, dest, mode: one.mode ?? stats.mode & OWN_BITS });
    return null;
  }
  if (!stats.isDirectory()) return `${where} is a file: that is render.file`;
  const real = realpathSync(source);
  if (above.includes(real) || above.length >= MOST_LEVELS)
    return `${where} leads into itself, or is too deep`;
  for (const name of readdirSync(source).sort()) {
    if (isInGitFolder(name)) continue;
    const path = join(source, name);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const entry = {
      kind: isFolder ? "dir" : "file",
      source: path,
      dest: join(dest, name),
      mode: null,
    } as const;
    addSource(entry, search, [...above, real]);
  }
  return null;
}

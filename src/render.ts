/**
 * `render` of a declaration (formats §3): which files it means, and what to write given what is there.
 * Destinations stay inside the workspace, whatever the declaration says.
 */
import type { Declaration } from "./declaration.ts";
import { resolvePath } from "./launch-spec.ts";
import type { StringCheck } from "./table-reader.ts";

/** What one agent's launch has rendered. Paths are absolute. */
export interface RenderRequest {
  readonly render: Declaration["render"];
  /** Folder of the declaration's file. */
  readonly base: string;
  readonly home: string;
  readonly workspace: string;
}

export interface RenderReport {
  /** Destinations that were written, relative to the workspace. */
  readonly written: readonly string[];
  /** A line each: what is not as declared, and why. */
  readonly problems: readonly string[];
}

/** One `render.file` or `render.dir`, with its source's place. */
export interface RenderSource {
  readonly kind: "file" | "dir";
  /** Absolute. */
  readonly source: string;
  /** Relative to the workspace, normalised; "" is the workspace itself. */
  readonly dest: string;
  /** Permission bits; null means the source's own. */
  readonly mode: number | null;
}

/** One file to be rendered. */
export interface RenderedFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

/** What stands at a destination. */
export type Standing = { readonly kind: "nothing" } | ({ readonly kind: "file" } & RenderedFile);

const MODE = /^(?:0o?)?([0-7]{3})$/;
const GIT_FOLDER = ".git";
const EXCLUDE_TITLE = "# Rendered by convoy";

/** What is wrong with the destination of a file. */
export const fileDestProblem: StringCheck = (dest) => {
  const problem = dirDestProblem(dest);
  if (problem !== null) return problem;
  const namesFolder = dest.endsWith("/") || /^(?:.*\/)?\.$/.test(dest);
  return namesFolder ? `${JSON.stringify(dest)} names a folder, not a file` : null;
};

/** What is wrong with the destination of a folder. */
export const dirDestProblem: StringCheck = (dest) => {
  const parts = dest.split("/");
  const named = JSON.stringify(dest);
  if (dest.trim() === "") return "is empty";
  if (/[\x00-\x1f\x7f]/.test(dest)) return `${named} contains a control character`;
  if (dest.startsWith("/") || /^(?:~|\$HOME)(?:\/|$)/.test(dest) || parts.includes(".."))
    return `${named} must be inside the workspace: a relative path without ".."`;
  return isInGitFolder(dest) ? `${named} is in git's own folder` : null;
};

export const modeProblem: StringCheck = (mode) =>
  MODE.test(mode) ? null : `must be three octal digits, like "644" or "0755", found ${JSON.stringify(mode)}`;

/** Whether a relative path leads into a `.git`, in any case of letters: some file systems know no difference. */
export function isInGitFolder(path: string): boolean {
  return path.split("/").some((part) => part.toLowerCase() === GIT_FOLDER);
}

/** `./a//b/` as `a/b`. */
export function normalDest(dest: string): string {
  return dest
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}

/**
 * The sources of a declaration whose file is in `base`, folders first: where a single file and a folder's file have
 * one destination, the single one wins. `problems` are of members that this version would not have let pass (a
 * declaration kept by an older one).
 */
export function planSources(
  { file, dir }: Declaration["render"],
  base: string,
  home: string,
): { readonly sources: RenderSource[]; readonly problems: string[] } {
  const problems: string[] = [];
  const take = (kind: RenderSource["kind"], one: { dest: string; from: string; mode?: string | null }) => {
    const problem = kind === "file" ? fileDestProblem(one.dest) : dirDestProblem(one.dest);
    const bits = MODE.exec(one.mode ?? "")?.[1];
    if (problem !== null) problems.push(`render.${kind}: dest ${problem}`);
    const mode = bits === undefined ? null : Number.parseInt(bits, 8);
    const source = resolvePath(one.from, base, home);
    return problem === null ? [{ kind, source, dest: normalDest(one.dest), mode }] : [];
  };
  const sources = [...dir.flatMap((one) => take("dir", one)), ...file.flatMap((one) => take("file", one))];
  return { sources, problems };
}

/** Whether the file is to be written: another content, other permission bits, or nothing there. */
export function isToWrite(wanted: RenderedFile, standing: Standing): boolean {
  if (standing.kind === "nothing" || standing.mode !== wanted.mode) return true;
  return Buffer.compare(standing.content, wanted.content) !== 0;
}

/**
 * A repository's `info/exclude` with a line for each path (relative to the repository's root) that has none, at the
 * end; the rest stays byte for byte. Null when none is missing.
 */
export function mergeExclude(text: string | null, paths: readonly string[]): string | null {
  const there = new Set((text ?? "").split(/\r?\n/));
  const missing = [...new Set(paths.map(formatExclude))].filter((line) => !there.has(line));
  if (missing.length === 0) return null;
  const before = text === null || text === "" || text.endsWith("\n") ? (text ?? "") : `${text}\n`;
  const title = there.has(EXCLUDE_TITLE) ? [] : [EXCLUDE_TITLE];
  return `${before}${[...title, ...missing].join("\n")}\n`;
}

/** The pattern that matches this one path (gitignore). */
function formatExclude(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ")}`;
}

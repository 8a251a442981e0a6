/** Where a destination really is: links in the workspace are followed as long as they stay in it. */
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { join, relative } from "node:path";
import { errnoOf } from "../errors.ts";
import { isInGitFolder } from "../render.ts";

export type Place = { readonly path: string } | { readonly problem: string };

/** `workspace` is a real path; `dest` is relative and without `..`. Throws system errors. */
export function findPlace(workspace: string, dest: string): Place {
  const parts = dest.split("/");
  let at = workspace;
  for (const [index, part] of parts.entries()) {
    const path = join(at, part);
    const stats = lookAt(path);
    if (stats === null) return { path: join(at, ...parts.slice(index)) };
    const real = stats.isSymbolicLink() ? realPathOf(path) : path;
    if (real === null) return { problem: `${path} is a link to nothing` };
    if (!isInside(real, workspace))
      return { problem: `${path} is a link that leads out of the workspace to ${real}` };
    const last = index === parts.length - 1;
    const found = lstatSync(real);
    if (last ? !found.isFile() : !found.isDirectory())
      return { problem: `${path} is ${last ? "no plain file" : "not a folder"}` };
    at = real;
  }
  return { path: at };
}

function isInside(path: string, workspace: string): boolean {
  const below = workspace === "/" ? "/" : `${workspace}/`;
  return path.startsWith(below) ? !isInGitFolder(relative(workspace, path)) : path === workspace;
}

function lookAt(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function realPathOf(link: string): string | null {
  try {
    return realpathSync(link);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** By which path a service should start convoy, and what has become of one that it names. */
import { accessSync, constants, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { errnoOf } from "../errors.ts";

export interface Typed {
  readonly cwd: string;
  readonly path: string;
}

/** What Linux puts behind the name of a running program whose file was removed or renamed over. */
const REMOVED = / \(deleted\)$/;

/**
 * This program, by a path that outlives an upgrade where there is one: as it was typed, or as PATH has it; a folder
 * with a version in its name stands behind many a link. Else the program's own file, or the one that took its place.
 */
export function ownBinary({ cwd, path }: Typed): string {
  const own = process.execPath.replace(REMOVED, "");
  const typed = process.argv0.includes("/") ? [resolve(cwd, process.argv0)] : [];
  const found = path
    .split(":")
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, "convoy"));
  const real = realPathOf(own);
  return [...typed, ...found].find((one) => real !== null && realPathOf(one) === real) ?? real ?? own;
}

/** What stands at the path that a service names. */
export function binaryState(binary: string): "this" | "other" | "gone" {
  if (!canRun(binary)) return "gone";
  return realPathOf(binary) === realPathOf(process.execPath.replace(REMOVED, "")) ? "this" : "other";
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

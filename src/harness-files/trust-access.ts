/** The disk, as the trust batch needs it. */
import { accessSync, constants, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errnoOf, messageOf } from "../errors.ts";
import type { TrustAccess } from "../trust.ts";
import { readMainCheckout } from "./git-worktree.ts";
import { updateConfig } from "./update-config.ts";

export const trustAccess: TrustAccess = {
  readRealPath,
  readMainCheckout,
  readFileExists: (path) => kindOf(path) === "file",
  readFolderExists: (path) => kindOf(path) === "folder",
  readIsOnPath,
  updateConfig: (file, merge) => updateConfig(file, merge),
};

type RealPath = ReturnType<TrustAccess["readRealPath"]>;

function readRealPath(path: string): RealPath {
  if (!isAbsolute(path)) return { problem: `${path} is not an absolute path` };
  try {
    const real = realpathSync.native(path);
    if (!statSync(real).isDirectory()) return { problem: `${path} is not a folder` };
    return { path: real, exists: true };
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? readFutureName(path) : { problem: messageOf(error) };
  }
}

/** The name that a folder will have once it is made, as a plain one, in the nearest folder that is there. */
function readFutureName(path: string): RealPath {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    return { problem: `${path} is a link to nothing` };
  }
  const parent = readRealPath(dirname(path));
  return "problem" in parent ? parent : { path: join(parent.path, basename(path)), exists: false };
}

function readIsOnPath(program: string, pathValue: string): boolean {
  return pathValue.split(":").some((folder) => isAbsolute(folder) && isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return kindOf(path) === "file";
  } catch (error) {
    // Not there, not executable, behind a closed folder: in each case not what the shell would start.
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

function kindOf(path: string): "file" | "folder" | "none" {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile()) return "file";
    return found?.isDirectory() ? "folder" : "none";
  } catch (error) {
    // Behind a folder that may not be entered, so its program cannot find it either.
    if (errnoOf(error) !== null) return "none";
    throw error;
  }
}

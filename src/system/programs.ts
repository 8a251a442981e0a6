/** Programs and folders on this machine's disk. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { errnoOf } from "../errors.ts";
import { effect } from "./effects.ts";

/** Whether `path` is a folder that can be entered; a folder that may not be looked at is none. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

/** Whether `name` is found as an executable file along `path` (as in PATH), or is itself the path of one. */
export function isExecutable(name: string, path: string): boolean {
  if (name.includes("/")) return isAbsolute(name) && isExecutableFile(name);
  return path.split(":").some((folder) => folder !== "" && isExecutableFile(join(folder, name)));
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

/** Creates a workspace with the folders above it; throws a system error. */
export function createWorkspace(path: string): void {
  mkdirSync(path, { recursive: true });
  effect("workspace-create");
}

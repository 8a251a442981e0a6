/** Clock, disks, folders and programs of this machine, as a check needs them. */
import { accessSync, constants, readdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import type { DiskFacts } from "../machine-checks.ts";
import type { FolderFacts } from "../network-checks.ts";
import { isExecutable } from "../system/programs.ts";
import { ask } from "./ask.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Null where the system does not say. */
export async function readSynchronized(env: Environment): Promise<boolean | null> {
  const answer = await ask(["timedatectl", "show", "--property=NTPSynchronized", "--value"], env);
  return answer === null || answer === "" ? null : answer === "yes";
}

/** Of the file system that `path`, or what will be above it, is on. */
export function readDisk(path: string): DiskFacts {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(nearest(path));
    return { path, freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree };
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return { path, freeBytes: null, freeFiles: null };
  }
}

function nearest(path: string): string {
  let at = path;
  while (statSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at) at = dirname(at);
  return at;
}

export function readFolder(path: string, isPrivate: boolean): FolderFacts {
  const found = statSync(path, { throwIfNoEntry: false });
  return {
    path,
    present: found !== undefined,
    isPrivate,
    mode: (found?.mode ?? 0) & 0o777,
    own: found?.uid === process.getuid?.(),
    writable: isWritable(path),
  };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) !== null) return false;
    throw error;
  }
}

/** Folders below `path`, itself included; what cannot be listed counts as one. */
export function countFolders(path: string): number {
  try {
    const below = readdirSync(path, { withFileTypes: true, recursive: true });
    return 1 + below.filter((entry) => entry.isDirectory()).length;
  } catch (error) {
    if (errnoOf(error) !== null) return 1;
    throw error;
  }
}

/** Where `name` is found along `searched`; null when it is not. */
export function findProgram(name: string, searched: string): string | null {
  if (name.includes("/")) return isExecutable(name, "") ? name : null;
  const folder = searched.split(":").find((one) => one !== "" && isExecutable(join(one, name), ""));
  return folder === undefined ? null : join(folder, name);
}

/** First line of what a program says to `--version`; null when it says nothing. */
export async function readVersion(path: string, env: Environment): Promise<string | null> {
  const [line = ""] = ((await ask([path, "--version"], env)) ?? "").split("\n");
  return line === "" ? null : line.slice(0, 80);
}

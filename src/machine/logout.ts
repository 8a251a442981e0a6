/** What systemd-logind does with a person's processes, and in whose care a process is. */
import { readFileSync } from "node:fs";
import { errnoOf } from "../errors.ts";
import type { Whereabouts } from "../machine-checks.ts";
import { isDirectory } from "../system/programs.ts";
import { ask } from "./ask.ts";

/** It makes this folder when it starts. */
const LOGIND_FOLDER = "/run/systemd/seats";
const MANAGER = [
  "org.freedesktop.login1",
  "/org/freedesktop/login1",
  "org.freedesktop.login1.Manager",
] as const;

export function hasLogind(): boolean {
  return isDirectory(LOGIND_FOLDER);
}

/** Whether a logout ends what its login started, for this user; null where logind does not answer. */
export async function readKillsUserProcesses(
  user: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean | null> {
  const read = (property: string) => ask(["busctl", "get-property", ...MANAGER, property], env);
  const [kills, excluded] = await Promise.all([read("KillUserProcesses"), read("KillExcludeUsers")]);
  if (kills === null) return null;
  return kills === "b true" && !(excluded ?? "").includes(`"${user}"`);
}

/** By the control group that the kernel names. */
export function whereaboutsOf(pid: number): Whereabouts {
  const groups = readGroups(pid);
  if (/\/user@\d+\.service\//.test(groups)) return "user-manager";
  return /\/session-[^/]+\.scope/.test(groups) ? "login" : "elsewhere";
}

function readGroups(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, "utf8");
  } catch (error) {
    if (errnoOf(error) !== null) return "";
    throw error;
  }
}

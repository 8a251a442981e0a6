/** inotify's limits, and what this user's processes have of them, from /proc. */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import type { WatchFacts } from "../machine-checks.ts";

const LIMITS = "/proc/sys/fs/inotify";

/** Of `pids`, this user's processes when not given. Null where the system has no such limits. */
export function readWatches(pids?: readonly string[]): WatchFacts | null {
  const maxInstances = readLimit("max_user_instances");
  const maxWatches = readLimit("max_user_watches");
  if (maxInstances === null || maxWatches === null) return null;
  let instances = 0;
  let watches = 0;
  for (const pid of pids ?? ownProcesses()) {
    for (const descriptor of inotifyDescriptors(pid)) {
      instances += 1;
      const info = tolerating("", () => readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, "utf8"));
      watches += info.match(/^inotify wd:/gm)?.length ?? 0;
    }
  }
  return { maxInstances, maxWatches, instances, watches };
}

function readLimit(name: string): number | null {
  const text = tolerating(null, () => readFileSync(`${LIMITS}/${name}`, "utf8"));
  return text === null ? null : Number(text);
}

function ownProcesses(): string[] {
  const uid = process.getuid?.();
  return readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && tolerating(false, () => statSync(`/proc/${name}`).uid === uid),
  );
}

function inotifyDescriptors(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return tolerating<string[]>([], () => readdirSync(folder)).filter((name) =>
    tolerating(false, () => readlinkSync(`${folder}/${name}`) === "anon_inode:inotify"),
  );
}

/** A process may end while it is looked at, or not let itself be looked at. */
function tolerating<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) !== null) return otherwise;
    throw error;
  }
}

/** Checks of the machine: watch limits, what ends processes at logout, the clock, the disks. Facts in, an answer out. */
import { count } from "./count.ts";
import { type Check, fail, pass, unknown } from "./doctor.ts";

/** inotify's limits for one user, and what this user has in use. */
export interface WatchFacts {
  readonly maxInstances: number;
  readonly maxWatches: number;
  readonly instances: number;
  readonly watches: number;
}

const SYSCTL_FILE = "/etc/sysctl.d/60-convoy.conf";

/** `folders`: of the catalog. A supervisor needs one instance, and agents that watch their files need one each. */
export function checkWatches(facts: WatchFacts | null, folders: number, agents: number): Check {
  const name = "watch-limits";
  if (facts === null) return unknown(name, "this system does not say how many files may be watched");
  const { maxInstances, maxWatches, instances, watches } = facts;
  const found = `${instances} of ${maxInstances} instances and ${watches} of ${maxWatches} watches in use`;
  if (maxInstances - instances < 1 + agents)
    return fail(name, found, setting("max_user_instances", Math.max(1_024, 2 * (instances + agents))));
  if (maxWatches - watches < folders + 1)
    return fail(name, found, setting("max_user_watches", Math.max(524_288, 2 * (watches + folders))));
  return pass(name, found);
}

function setting(limit: string, value: number): string {
  return `echo fs.inotify.${limit}=${value} | sudo tee -a ${SYSCTL_FILE}; sudo sysctl --system`;
}

/** Where a session host runs, by its control group. */
export type Whereabouts = "login" | "user-manager" | "elsewhere";

/** What systemd-logind does at a person's logout. */
export interface LogoutFacts {
  /** Whether it runs here at all. */
  readonly logind: boolean;
  readonly user: string;
  /** Null where it cannot be told. */
  readonly lingering: boolean | null;
  /** As logind has it in force for this user; null where it cannot be told. */
  readonly killsUserProcesses: boolean | null;
  /** Whether a service of convoy's is installed here for this network. */
  readonly service: boolean;
  /** Of the network's session hosts. */
  readonly hosts: readonly Whereabouts[];
}

export function checkLingering(facts: LogoutFacts): Check {
  const name = "lingering";
  const { logind, user, lingering, service, hosts } = facts;
  if (!logind) return pass(name, "no systemd-logind here: nothing ends with a logout");
  if (lingering === true) return pass(name, `on: what systemd runs for ${user} outlives the last logout`);
  const fix = `loginctl enable-linger ${user}`;
  if (lingering === null) return unknown(name, `cannot tell whether ${user} lingers`, fix);
  const inManager = hosts.filter((host) => host === "user-manager").length;
  if (!service && inManager === 0) return pass(name, "off, and nothing of this network depends on it");
  const what = inManager > 0 ? count(inManager, "session") : "the service";
  return fail(name, `off: the last logout of ${user} ends ${what}`, fix);
}

export function checkLogout(facts: LogoutFacts): Check {
  const name = "KillUserProcesses";
  const { logind, user, killsUserProcesses, service, hosts } = facts;
  if (!logind) return pass(name, "no systemd-logind here: nothing ends with a logout");
  const fix = "convoy service install";
  if (killsUserProcesses === null) return unknown(name, "systemd-logind does not say");
  if (!killsUserProcesses)
    return pass(name, `off for ${user}: agents outlive the login that they were started in`);
  const inLogin = hosts.filter((host) => host === "login").length;
  if (inLogin > 0)
    return fail(
      name,
      `on: ${count(inLogin, "session")} started from a login will end with it`,
      `${fix}, then convoy restart each agent`,
    );
  if (service) return pass(name, "on, and out of reach of what the service starts");
  return fail(name, "on: what is started from a login ends with it", fix);
}

export interface ClockFacts {
  readonly nowMs: number;
  /** The latest time that anything of the network was written with; null when there is none. */
  readonly newestMs: number | null;
  /** Whether the system keeps it right by itself; null where it cannot be told. */
  readonly synchronized: boolean | null;
}

/** No clock that is right is before this: convoy is younger. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const SLACK_MS = 60_000;

export function checkClock({ nowMs, newestMs, synchronized }: ClockFacts): Check {
  const name = "clock";
  const fix = "sudo timedatectl set-ntp true";
  const now = new Date(nowMs).toISOString();
  if (nowMs < EARLIEST_MS) return fail(name, `it is ${now} here`, fix);
  if (newestMs !== null && newestMs > nowMs + SLACK_MS)
    return fail(
      name,
      `it is ${now} here, and a session was started at ${new Date(newestMs).toISOString()}`,
      fix,
    );
  if (synchronized === true) return pass(name, `${now}, synchronized`);
  if (synchronized === false) return unknown(name, `${now}, and this system does not keep it right`, fix);
  return unknown(name, `${now}; this system does not say whether it is kept right`);
}

export interface DiskFacts {
  readonly path: string;
  /** For this user; null where it cannot be told. */
  readonly freeBytes: number | null;
  /** Null where the file system has no such number. */
  readonly freeFiles: number | null;
}

const LEAST_BYTES = 256 * 1024 * 1024;
const LEAST_FILES = 1_000;

export function checkDisk(disks: readonly DiskFacts[]): Check {
  const name = "disk-space";
  const full = disks.find(
    ({ freeBytes, freeFiles }) =>
      (freeBytes ?? LEAST_BYTES) < LEAST_BYTES || (freeFiles ?? LEAST_FILES) < LEAST_FILES,
  );
  const said = (disk: DiskFacts) => `${disk.path}: ${megabytes(disk.freeBytes)} free`;
  if (full !== undefined)
    return fail(
      name,
      (full.freeBytes ?? LEAST_BYTES) < LEAST_BYTES
        ? said(full)
        : `${full.path}: room for ${full.freeFiles} files`,
      `make room: df -h '${full.path}'`,
    );
  const message = disks.map(said).join("; ");
  return disks.some(({ freeBytes }) => freeBytes === null) ? unknown(name, message) : pass(name, message);
}

function megabytes(bytes: number | null): string {
  return bytes === null ? "an unknown amount" : `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

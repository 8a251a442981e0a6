/**
 * systemd's user manager, for real: a process of its own for one test, with a control group and a runtime folder of its
 * own. It needs root, name spaces and cgroup2, and nothing of the machine's own systemd.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../src/errors.ts";
import { kill, type Net, until } from "./kit.ts";

const PROGRAMS = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"];

/** `$1` the control group's folder as seen here, `$2` systemd. Only its view of cgroups and of /run is its own. */
const START = `
echo $$ >"$1/cgroup.procs" && exec unshare --mount --cgroup sh -c '
mount --make-rprivate / && mount -t tmpfs none /run && mkdir -p /run/systemd/system &&
{ umount -R /sys/fs/cgroup || :; } && mount -t cgroup2 none /sys/fs/cgroup &&
exec "$0" --user --unit=basic.target' "$2"`;

export class UserManager {
  readonly #group: string;
  readonly #pid: number;
  /** What reaches it, for the environment of convoy and systemctl. */
  readonly variables: Readonly<Record<string, string>>;

  private constructor(group: string, pid: number, runtime: string) {
    this.#group = group;
    this.#pid = pid;
    this.variables = { XDG_RUNTIME_DIR: runtime };
  }

  /** What keeps this machine from running one, as a phrase; null when it can. One is started to see. */
  static async missing(): Promise<string | null> {
    if (process.getuid?.() !== 0) return "it needs root";
    if (findProgram() === null || Bun.which("systemctl") === null) return "there is no systemd";
    if (cgroupRoot() === null) return "there is no cgroup2";
    const home = mkdtempSync("/tmp/cv-");
    const manager = await UserManager.#tryStart(home);
    if (typeof manager !== "string") await manager.remove();
    rmSync(home, { recursive: true });
    return typeof manager === "string" ? `systemd does not run: ${manager}` : null;
  }

  static async start(net: Net): Promise<UserManager> {
    const manager = await UserManager.#tryStart(net.home);
    if (typeof manager === "string") throw new Error(manager);
    return manager;
  }

  /** Gives what it said where it ends at once. */
  static async #tryStart(home: string): Promise<UserManager | string> {
    const group = join(cgroupRoot() ?? "", `convoy-test-${home.slice(-6)}`);
    const runtime = join(home, "run");
    mkdirSync(runtime, { mode: 0o700 });
    mkdirSync(group);
    const child = Bun.spawn(["sh", "-c", START, "sh", group, findProgram() ?? ""], {
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: home, XDG_RUNTIME_DIR: runtime },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const manager = new UserManager(group, child.pid, runtime);
    await until(
      "the user manager to answer, or to have ended",
      () => existsSync(join(runtime, "systemd", "private")) || child.exitCode !== null,
    );
    if (child.exitCode === null) return manager;
    await manager.remove();
    return (await firstLine(child.stderr)) || `exit code ${child.exitCode}`;
  }

  /** The processes in a unit's control group. */
  processesOf(unit: string): number[] {
    const path = join(this.#group, "app.slice", unit, "cgroup.procs");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];
  }

  /** Whether it is the manager itself. */
  is(pid: number): boolean {
    return pid === this.#pid;
  }

  /** Ends it with all that it started. */
  async remove(): Promise<void> {
    kill(this.#pid);
    if (!existsSync(this.#group)) return;
    writeFileSync(join(this.#group, "cgroup.kill"), "1");
    await until("the control group to be removed", () => removeGroup(this.#group));
  }
}

function findProgram(): string | null {
  return PROGRAMS.find((one) => existsSync(one)) ?? null;
}

/** Where cgroup2 is mounted: alone, or beside the first version. */
function cgroupRoot(): string | null {
  const roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
  return (
    roots.find(
      (root) => existsSync(join(root, "cgroup.procs")) && existsSync(join(root, "cgroup.controllers")),
    ) ?? null
  );
}

function removeGroup(group: string): boolean {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory() && !removeGroup(join(group, entry.name))) return false;
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EBUSY") return false;
    throw error;
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  return (await new Response(stream).text()).trim().split("\n")[0] ?? "";
}

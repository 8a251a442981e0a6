/** A network for `convoy doctor survive`: two agents that beat, in a folder that is removed afterwards. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import { quoteForShell } from "../harness.ts";
import { parseJsonObject } from "../json-members.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import type { ProcessIdentity } from "../session.ts";
import { effect } from "../system/effects.ts";
import { type NetworkPaths, networkPaths } from "../system/paths.ts";
import { identify, identityOf, processTable } from "../system/processes.ts";
import { ownCommand } from "./wiring.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = "cv-survive-";
export const AGENTS = ["one", "two"];
/** Longest folder that leaves room for socket paths. */
const LONGEST_TMP = 40;
const OWNERLESS_MS = 60_000;
const POLL_MS = 25;

/** A life sign five times a second. No trust is written for the harness that it says it is. */
const DECLARATION = (identity: string, beats: string) => `identity = "${identity}"
role = "chief-of-staff"
harness = "pi"

[pty.agent]
command = ${JSON.stringify(`while :; do echo >>${quoteForShell(beats)}; sleep 0.2; done`)}
`;

export class ThrowAway {
  readonly paths: NetworkPaths;
  readonly root: string;
  readonly #env: Environment;

  private constructor(root: string, env: Environment) {
    this.root = root;
    this.paths = networkPaths(root);
    this.#env = outside(env);
  }

  /** Throws system errors. */
  static create(env: Environment): ThrowAway {
    const network = new ThrowAway(mkdtempSync(join(folderFor(env), PREFIX)), env);
    effect("folder-create");
    writeFileSync(
      network.#ownerFile(),
      JSON.stringify({ ...identityOf(process.pid), boot: processTable.boot() }),
    );
    effect("temporary-write");
    mkdirSync(network.paths.catalog);
    effect("folder-create");
    for (const identity of AGENTS) {
      const file = join(network.paths.catalog, `${identity}.toml`);
      writeFileSync(file, DECLARATION(identity, network.#beatsFile(identity)));
      effect("catalog-write");
    }
    return network;
  }

  /** Those whose makers were killed. */
  static abandoned(env: Environment): ThrowAway[] {
    const folder = folderFor(env);
    return readdirSync(folder)
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => new ThrowAway(join(folder, name), env))
      .filter((network) => network.#isAbandoned());
  }

  /** Runs convoy on this network; resolves to its exit code, its output, and what it says is wrong, on one line. */
  async convoy(
    ...words: string[]
  ): Promise<{ readonly code: number; readonly stdout: string; readonly problem: string }> {
    const child = Bun.spawn([...ownCommand(), ...words, "--network", this.root], {
      argv0: "convoy",
      cwd: "/",
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    effect("supervisor-spawn");
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, problem: `exit code ${code}: ${stderr.trim().split("\n")[0]}` };
  }

  spawnSupervisor() {
    const child = Bun.spawn([...ownCommand(), "up", "--network", this.root], {
      argv0: "convoy",
      cwd: "/",
      env: this.#env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    effect("supervisor-spawn");
    return child;
  }

  /** Starts a shell, as a person has one, that runs `convoy up`: in a terminal, or as a process group of its own. */
  spawnShell(within: "terminal" | "group") {
    const line = ["sh", "-c", '"$0" up --network "$1"; exit', process.execPath, this.root];
    const child = Bun.spawn(line, {
      cwd: "/",
      env: this.#env,
      ...(within === "terminal"
        ? { terminal: { cols: 80, rows: 24, data: () => undefined } }
        : { detached: true, stdio: ["ignore", "ignore", "ignore"] as const }),
    });
    effect("supervisor-spawn");
    return child;
  }

  supervisor(): number | null {
    return readSupervisor(this.paths)?.pid ?? null;
  }

  /** The process of each agent, in their order; null for one that does not run. */
  async agents(): Promise<(ProcessIdentity | null)[]> {
    const { stdout } = await this.convoy("ls", "--json");
    const parsed = parseJsonObject(stdout);
    const rows =
      "problem" in parsed ? [] : (parsed.object.agents as { identity: string; pid: number | null }[]);
    return AGENTS.map((identity) => {
      const pid = rows.find((row) => row.identity === identity)?.pid ?? null;
      return pid === null ? null : identityOf(pid);
    });
  }

  beats(): number[] {
    return AGENTS.map((identity) => readIfThere(this.#beatsFile(identity)).length);
  }

  /** Ends what runs, and removes the folder. Resolves to what could not be ended or removed; null when nothing is left. */
  async remove(): Promise<string | null> {
    // Its service, where one is left of a run that was killed.
    await this.convoy("service", "uninstall");
    const supervisor = this.supervisor();
    if (supervisor !== null) signal(supervisor, "SIGKILL");
    const { code, problem } = await this.convoy("down", "--grace", "1");
    // 3: it was killed before there was anything of a network.
    if (code !== 0 && code !== 3) return `convoy down --network ${this.root}: ${problem}`;
    rmSync(this.root, { recursive: true, force: true });
    effect("files-remove");
    return null;
  }

  /** Only what this user made and nobody else can have written to: what stands in it is acted on. */
  #isAbandoned(): boolean {
    const found = lstatSync(this.root, { throwIfNoEntry: false });
    const own = found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
    if (found === undefined || own !== true) return false;
    const parsed = parseJsonObject(readIfThere(this.#ownerFile()));
    const { pid, start, boot } = "problem" in parsed ? {} : parsed.object;
    // Between the folder and its owner's name lies a moment.
    if (typeof pid !== "number" || typeof start !== "string" || typeof boot !== "string")
      return Date.now() - found.mtimeMs > OWNERLESS_MS;
    return identify({ pid, start }, boot) === "not-ours";
  }

  #ownerFile(): string {
    return join(this.root, "owner");
  }

  #beatsFile(identity: string): string {
    return join(this.root, `${identity}.beats`);
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
  effect("supervisor-signal");
}

/** Null when `look` gives nothing in time. Throws when `stop` is aborted. */
export async function waitFor<T>(
  look: () => T | null | Promise<T | null>,
  stop: AbortSignal,
  timeoutMs: number,
): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  while (true) {
    stop.throwIfAborted();
    const found = await look();
    if (found !== null || performance.now() > deadline) return found;
    await Bun.sleep(POLL_MS);
  }
}

/** Typed inside a session, or for a network, it is no part of either. */
function outside(env: Environment): Environment {
  return {
    ...env,
    PTY_SESSION: undefined,
    ST_ROOT: undefined,
    ST_AGENT: undefined,
    CONVOY_NETWORK: undefined,
  };
}

function folderFor(env: Environment): string {
  const own = env.TMPDIR;
  return own?.startsWith("/") && own.length <= LONGEST_TMP ? own : "/tmp";
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

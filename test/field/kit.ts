/**
 * What the replayed field reports share: a throw-away network with a home, a state folder and fake agents of its own,
 * and the compiled binary run in it.
 */
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { type ProcessRow, processTable } from "../../src/system/processes.ts";
import { BINARY, type Ran } from "../e2e/binary.ts";
import { kill, until } from "../e2e/kit.ts";

export { BINARY, type Ran } from "../e2e/binary.ts";
export { isAlive, kill, snapshot, until } from "../e2e/kit.ts";

const FAKE_AGENT = join(import.meta.dir, "fake-agent.sh");
const COMMAND_MS = 60_000;
const NOBODY = 65_534;

/** For a whole test: the machine may be busy with other work. */
export const TEST_MS = 120_000;

/** One start of a fake agent, as it wrote it down itself. */
export interface Launch {
  readonly busId: string;
  readonly pid: number;
  /** Its parent: the session host. */
  readonly hostPid: number;
  /** As getcwd reports it. */
  readonly cwd: string;
  readonly argv: string;
}

/** What of a row of `ls --json` is looked at here. */
export interface ListRow {
  readonly identity: string;
  readonly state: string;
  readonly reason: string;
  readonly pid: number | null;
  readonly exitCode: number | null;
}

export interface RunOptions {
  /** Over the field's own; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Put before the binary: `["setpriv", …]`. */
  readonly through?: readonly string[];
}

export interface DeclareOptions {
  /** `box` when absent; "" leaves it unsaid. */
  readonly host?: string;
  readonly network?: string;
  /** Below the catalog. */
  readonly path?: string;
}

/** An event of `up --json`; what is looked at is checked where it is looked at. */
export type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** `convoy up` kept running. */
export class Supervisor {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly events: Event[] = [];
  stderr = "";

  constructor(child: Bun.Subprocess<"ignore", "pipe", "pipe">) {
    this.child = child;
    void this.collect();
    void new Response(child.stderr).text().then((text) => {
      this.stderr = text;
    });
  }

  get pid(): number {
    return this.child.pid;
  }

  of(type: string): Event[] {
    return this.events.filter((event) => event.type === type);
  }

  /** Sends a signal and waits for the end; answers the exit code (128+N for a signal). */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    this.child.kill(signal);
    return await this.child.exited;
  }

  private async collect(): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of this.child.stdout) {
      text += decoder.decode(bytes, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.events.push(JSON.parse(line));
    }
  }
}

export class Field {
  /** A short path, resolved; everything of this field is below it, and every process of it names it. */
  readonly root = realpathSync(mkdtempSync("/tmp/cv-"));
  readonly home = join(this.root, "home");
  readonly bin = join(this.root, "bin");
  readonly network: string;
  readonly claudeConfig = join(this.home, ".claude.json");
  readonly codexConfig = join(this.home, ".codex/config.toml");
  /** Whether convoy runs as a user without privileges here, so that file modes count. */
  readonly unprivileged: boolean;

  constructor({ network = "n", unprivileged = false } = {}) {
    this.network = join(this.root, network);
    this.unprivileged = unprivileged;
    for (const name of ["home", "bin", "state", "runs", "behave"]) mkdirSync(join(this.root, name));
    this.makeNetwork(this.network);
    const script = readFileSync(FAKE_AGENT, "utf8").replaceAll("$FIELD", this.root);
    for (const name of ["claude", "codex"]) this.put(`bin/${name}`, script, 0o755);
  }

  makeNetwork(network: string): void {
    for (const name of ["catalog", "smalltalk", "pty", "worktrees"])
      mkdirSync(join(network, name), { recursive: true });
    chmodSync(join(network, "pty"), 0o700);
  }

  /** Writes a file below the root, with the folders above it; answers its path. */
  put(path: string, text: string | Uint8Array, mode = 0o644): string {
    const full = resolve(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    chmodSync(full, mode);
    return full;
  }

  /** Declares an agent in TOML; `more` are lines behind the usual ones. Answers the file's path. */
  declare(identity: string, more = "", options: DeclareOptions = {}): string {
    const { host = "box", network = this.network, path = `${host}/${identity}/agent.toml` } = options;
    const where = host === "" ? "" : `host = "${host}"\n`;
    const text = `identity = "${identity}"\nrole = "chief-of-staff"\n${where}transport = "mcp"\n${more}\n`;
    return this.put(join(network, "catalog", path), text);
  }

  /** Shell lines that the fake agent of this bus id runs after it wrote down its start. */
  behave(busId: string, script: string): void {
    this.put(`behave/${busId}`, `${script}\n`);
  }

  environment(over: RunOptions["env"] = {}): Record<string, string> {
    const all = {
      PATH: `${this.bin}:/usr/bin:/bin`,
      HOME: this.home,
      XDG_STATE_HOME: join(this.root, "state"),
      CONVOY_HOST: "box",
      ...over,
    };
    return Object.fromEntries(
      Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
  }

  /** Runs `convoy <words>` to its end. A command that hangs is killed after a minute, which no exit code equals. */
  async convoy(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.spawn(words, options);
    const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    clearTimeout(timer);
    return { code, stdout, stderr };
  }

  /** UP1, with its events. */
  async once(options: RunOptions & { network?: string } = {}): Promise<Ran & { events: Event[] }> {
    const ran = await this.convoy(["up", options.network ?? this.network, "--once", "--json"], options);
    const lines = ran.stdout.split("\n").filter((line) => line !== "");
    return { ...ran, events: lines.map((line) => JSON.parse(line)) };
  }

  /** UPF: resolves when the supervisor has made its first plan. */
  async supervise(words: readonly string[] = [], options: RunOptions = {}): Promise<Supervisor> {
    const supervisor = new Supervisor(this.spawn(["up", this.network, "--json", ...words], options));
    await until("the supervisor's first plan", () => {
      if (supervisor.child.exitCode !== null) throw new Error(`up ended at once: ${supervisor.stderr}`);
      return supervisor.of("plan").length > 0;
    });
    return supervisor;
  }

  spawn(words: readonly string[], options: RunOptions = {}): Bun.Subprocess<"ignore", "pipe", "pipe"> {
    if (this.unprivileged) this.giveAway();
    const drop = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const through = [...(this.unprivileged && isRoot() ? drop : []), ...(options.through ?? [])];
    return Bun.spawn([...through, BINARY, ...words], {
      cwd: options.cwd ?? this.root,
      env: this.environment(options.env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  /** The rows of `ls --json`. */
  async list(options: RunOptions & { network?: string } = {}): Promise<readonly ListRow[]> {
    const { code, stdout, stderr } = await this.convoy(
      ["ls", options.network ?? this.network, "--json"],
      options,
    );
    if (code !== 0) throw new Error(`ls exited ${code}: ${stderr}`);
    return JSON.parse(stdout).agents;
  }

  /** Every start of a fake agent so far, in order; of one agent when it is named. */
  launches(busId?: string): Launch[] {
    const log = join(this.root, "runs.log");
    if (!existsSync(log)) return [];
    const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
    const all = lines.map((line) => {
      const [agent = "", pid = "", hostPid = "", cwd = "", argv = ""] = line.split("\t");
      return { busId: agent, pid: Number(pid), hostPid: Number(hostPid), cwd, argv };
    });
    return busId === undefined ? all : all.filter((launch) => launch.busId === busId);
  }

  async untilLaunched(count: number, busId?: string): Promise<Launch[]> {
    return await until(`${count} launches of ${busId ?? "any"}`, () => {
      const found = this.launches(busId);
      return found.length >= count ? found : null;
    });
  }

  /** The harness's own config file as the agent found it at its first instruction. */
  configSeenBy({ pid }: Launch): string {
    return readFileSync(join(this.root, "runs", `${pid}.config`), "utf8");
  }

  environmentOf({ pid }: Launch): Record<string, string> {
    const pairs = readFileSync(join(this.root, "runs", `${pid}.env`), "utf8").split("\0");
    return Object.fromEntries(
      pairs.filter((pair) => pair !== "").map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
    );
  }

  /** Living processes of this field: agents, hosts, supervisors, and whatever they started. */
  living(): ProcessRow[] {
    return processTable.rows().filter(({ pid, zombie }) => {
      if (zombie || pid === process.pid) return false;
      const words = [...(processTable.environment(pid) ?? []), ...(processTable.commandLine(pid) ?? [])];
      return words.some((word) => word.includes(`${this.root}/`));
    });
  }

  /** Kills what is left, by pid, and removes the field. */
  async remove(): Promise<void> {
    await until("the field's processes to end", () => {
      const left = this.living();
      for (const { pid } of left) kill(pid, "SIGKILL");
      return left.length === 0;
    });
    rmSync(this.root, { recursive: true, force: true });
  }

  private giveAway(): void {
    if (!isRoot()) return;
    lchownSync(this.root, NOBODY, NOBODY);
    for (const name of readdirSync(this.root, { recursive: true, encoding: "utf8" }))
      lchownSync(join(this.root, name), NOBODY, NOBODY);
  }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Problems of the catalog among the events of `up`. */
export function problemsIn(events: readonly Event[]): Event[] {
  return events.filter(({ type }) => type === "catalog_error" || type === "catalog_warning");
}

export function sha256(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

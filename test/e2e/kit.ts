/** A throw-away network with real processes, driven through the compiled binary and read from its files. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { errnoOf } from "../../src/errors.ts";
import type { ConvoyEvent, EventType, PlanDocument } from "../../src/events.ts";
import type { Ledger } from "../../src/ledger.ts";
import { identityOf, processTable } from "../../src/system/processes.ts";
import { BINARY, type Ran } from "./binary.ts";

/** What this machine is called in every test. */
export const HOST = "box";
/** Longest wait for anything; for `setDefaultTimeout` there is twice as much. */
export const DEADLINE_MS = 30_000;
const LOOK_MS = 15;

/**
 * `agent <name>` idles; `agent <name> beat` prints, and notes each line that it could print; `agent <name> exit <n>`
 * ends at once. Each start is a line in runs.log.
 */
const AGENT = `#!/bin/sh
echo "$1 $$" >>"$HOME/runs.log"
case $2 in
beat) i=0; while :; do i=$((i + 1)); echo "line $i" && echo "$i" >>"$HOME/$1.beats"; sleep 0.1; done ;;
exit) echo "cannot work"; exit "$3" ;;
esac
exec sleep 100000
`;

export interface Declared {
  /** Null leaves the host unsaid. */
  readonly host?: string | null;
  /** The explicit main task; null leaves it to the harness. */
  readonly command?: string | null;
  /** More members, as lines of TOML. */
  readonly lines?: readonly string[];
  /** Tables after the members, as lines of TOML. */
  readonly tables?: readonly string[];
  /** Relative to the catalog. */
  readonly path?: string;
}

export interface Started {
  readonly pid: number;
  /** Resolves to the exit code, 128+N after signal N. */
  readonly ended: Promise<number>;
  readonly stderr: () => string;
  signal(name: NodeJS.Signals): void;
}

type EventOf<T extends EventType> = Extract<ConvoyEvent, { type: T }>;

export class Net {
  readonly home = mkdtempSync("/tmp/cv-");
  readonly root = join(this.home, "n");
  readonly catalog = join(this.root, "catalog");
  readonly pty = join(this.root, "pty");
  readonly state = join(this.pty, ".convoy");
  readonly bin = join(this.home, "bin");

  constructor() {
    for (const folder of ["catalog", "smalltalk", "pty", "worktrees"])
      mkdirSync(join(this.root, folder), { recursive: true });
    chmodSync(this.pty, 0o700);
    this.program("agent", AGENT);
  }

  /** Puts an executable first on the PATH of everything in this network. */
  program(name: string, text: string): void {
    mkdirSync(this.bin, { recursive: true });
    writeFileSync(join(this.bin, name), text, { mode: 0o755 });
  }

  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const path = `${this.bin}:${process.env.PATH ?? "/usr/bin:/bin"}`;
    return { PATH: path, HOME: this.home, CONVOY_HOST: HOST, ...more };
  }

  /** Writes a declaration; returns its path. */
  declare(identity: string, declared: Declared = {}): string {
    const { host = HOST, command = `exec agent ${identity}`, lines = [], tables = [] } = declared;
    const file = join(this.catalog, declared.path ?? `${host ?? HOST}/${identity}/agent.toml`);
    const text = [
      ...(host === null ? [] : [`host = "${host}"`]),
      `identity = "${identity}"`,
      'role = "chief-of-staff"',
      ...lines,
      ...(command === null ? [] : ["[pty.agent]", `command = ${JSON.stringify(command)}`]),
      ...tables,
      "",
    ].join("\n");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Starts `convoy <words> --network <root>`. */
  spawn(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
    return Bun.spawn([BINARY, ...words, "--network", this.root], {
      cwd: this.home,
      env: this.env(more),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  async convoy(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
    const child = this.spawn(words, more);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  /** One pass; its events come from its own stdout. */
  async once(
    words: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ code: number; events: ConvoyEvent[]; summary: string; stderr: string }> {
    const { code, stdout, stderr } = await this.convoy(["up", "--once", "--json", ...words], more);
    const events = parseLines(stdout);
    const last = events.findLast((event) => event.type === "once_summary");
    const counts = last === undefined ? [] : Object.entries(last);
    const summary = counts.filter(([, count]) => typeof count === "number" && count > 0);
    return { code, events, summary: summary.map(([name, count]) => `${name} ${count}`).join(", "), stderr };
  }

  async plan(): Promise<PlanDocument> {
    return JSON.parse((await this.convoy(["plan", "--json"])).stdout);
  }

  /** Starts a supervisor; resolves when it supervises. */
  async up(words: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Promise<Started> {
    const child = this.spawn(["up", "--json", ...words], more);
    let stderr = "";
    void new Response(child.stdout).text();
    void new Response(child.stderr).text().then((text) => {
      stderr = text;
    });
    await this.event("up", (event) => event.pid === child.pid);
    const signal = (name: NodeJS.Signals) => child.kill(name);
    return { pid: child.pid, ended: child.exited, stderr: () => stderr, signal };
  }

  /** Everything in the network's own log, oldest first. */
  events(): ConvoyEvent[] {
    const path = join(this.state, "events.jsonl");
    return existsSync(path) ? parseLines(readFileSync(path, "utf8")) : [];
  }

  said<T extends EventType>(type: T, identity?: string): EventOf<T>[] {
    return this.events().filter(
      (event): event is EventOf<T> =>
        event.type === type &&
        (identity === undefined || ("identity" in event && event.identity === identity)),
    );
  }

  /** Waits for an event that matches; `after` leaves out those that were there before. */
  async event<T extends EventType>(
    type: T,
    matches: (event: EventOf<T>) => boolean = () => true,
    after = 0,
  ): Promise<EventOf<T>> {
    const look = () =>
      this.events()
        .slice(after)
        .find((event): event is EventOf<T> => event.type === type && matches(event as EventOf<T>));
    return await until(`event ${type}`, look, () => this.events().map(brief).join("\n"));
  }

  ledger(identity: string, task?: string): Ledger | null {
    const name = [HOST, identity, ...(task === undefined ? [] : [task])].join(".");
    const path = join(this.state, "sessions", `${name}.json`);
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
  }

  /** The registry's record, as any other program reads it. */
  record(identity: string): { tags: Record<string, string>; [member: string]: unknown } {
    return JSON.parse(readFileSync(join(this.pty, `${HOST}.${identity}.json`), "utf8"));
  }

  /** The process of a living agent; null while there is none. */
  pid(identity: string, task?: string): number | null {
    const ledger = this.ledger(identity, task);
    return ledger?.child != null && ledger.end === null && isAlive(ledger.child.pid)
      ? ledger.child.pid
      : null;
  }

  /** Waits until the agent runs, as another process than `other`. */
  async running(identity: string, other: number | null = null, task?: string): Promise<number> {
    return await until(
      `${identity} to run`,
      () => {
        const pid = this.pid(identity, task);
        return pid === other ? null : pid;
      },
      () => this.events().map(brief).join("\n"),
    );
  }

  /** Pids of every start of an agent, in order. */
  runs(identity: string): number[] {
    const path = join(this.home, "runs.log");
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").trim().split("\n");
    return lines
      .map((line) => line.split(" "))
      .flatMap(([name, pid]) => (name === identity ? Number(pid) : []));
  }

  /** How many lines the agent has printed; only `agent <name> beat` counts them. */
  beats(identity: string): number {
    const path = join(this.home, `${identity}.beats`);
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
  }

  /** Waits until every session has written all that comes with its start, and nobody holds a lock. */
  async quiet(): Promise<void> {
    await until("the registry to be quiet", () => {
      const names = readdirSync(this.pty, { recursive: true, encoding: "utf8" });
      const started = names
        .filter((name) => /^[^/]+\.json$/.test(name))
        .every((name) => names.includes(name.replace(/json$/, "events.jsonl")));
      return started && !names.some((name) => /\.(lock|tmp)(\.|$)/.test(name));
    });
  }

  /** Living processes of this network: everything here has its home. */
  processes(): number[] {
    const mark = `HOME=${this.home}`;
    return processTable
      .rows()
      .filter((row) => !row.zombie && processTable.environment(row.pid)?.includes(mark) === true)
      .map((row) => row.pid);
  }

  /** Ends every process of this network, and removes it. */
  async remove(): Promise<void> {
    await until("every process of the network to end", () => {
      const left = this.processes();
      for (const pid of left) kill(pid, "SIGKILL");
      return left.length === 0;
    });
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Waits until `look` gives something, `deadlineMs` at most; throws with what was waited for. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  context: () => string = () => "",
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  while (true) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}\n${context()}`);
    await Bun.sleep(LOOK_MS);
  }
}

export function isAlive(pid: number): boolean {
  return identityOf(pid) !== null;
}

/** Signals one process; one that is gone already is fine. */
export function kill(pid: number | null, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid ?? Number.NaN, signal);
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}

/** Every path below `folder` with its content, mode, inode and times: equal when not one byte was touched. */
export function snapshot(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .flatMap((name) => lookAt(folder, name) ?? []);
}

/** Null for what was removed since its folder was read: hosts at work remove files of their own. */
function lookAt(folder: string, name: string): string | null {
  const path = join(folder, name);
  try {
    const { mode, ino, size, mtimeMs, ctimeMs } = lstatSync(path);
    return [name, mode, ino, size, mtimeMs, ctimeMs, contentOf(path)].join(" ");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

function contentOf(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return readlinkSync(path);
  return stats.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
}

function parseLines(text: string): ConvoyEvent[] {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function brief(event: ConvoyEvent): string {
  return JSON.stringify(event).slice(0, 300);
}

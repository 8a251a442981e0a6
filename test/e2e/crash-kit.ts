/**
 * Kills convoy, or the session hosts that it starts, right after one effect; then shows that plain passes repair what
 * is left. No agent may have a second life beside its first at any moment: each holds a lock for as long as it lives.
 */
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../src/errors.ts";
import { processTable } from "../../src/system/processes.ts";
import type { Ran } from "./binary.ts";
import { kill, Net, snapshot, until } from "./kit.ts";

/** Exit code of a command that killed itself. */
export const KILLED = 137;
const PASSES = 3;
/** Cases under way at once: a case is mostly waiting for its processes to start. */
const PARALLEL = 3;
const MOST_TIMES = 3;
/** Around every write: elsewhere than in `thorough` scenarios, these are broken off once. */
const AROUND_WRITES = ["lock-release", "lock-take", "temporary-remove", "temporary-write"];

/** Holds its session's lock for life; one life beside another is written down. The file `fail` ends it at once, `deaf` and `stubborn` make it ignore HUP and TERM. */
const LIFE = `#!/bin/sh
exec 9>>"$HOME/$PTY_SESSION.life"
flock -n 9 || echo "$PTY_SESSION" >>"$HOME/overlaps"
echo "$PTY_SESSION" >>"$HOME/lives"
[ ! -e "$HOME/fail" ] || exit 1
[ ! -e "$HOME/deaf" ] || trap '' HUP
[ ! -e "$HOME/stubborn" ] || trap '' TERM
exec sleep 100000
`;

export class CrashNet extends Net {
  constructor() {
    super();
    for (const name of ["agent", "claude", "codex", "st"]) this.program(name, LIFE);
    this.program("hook", '#!/bin/sh\ncat >/dev/null\n: >"$HOME/hooked"\n');
  }

  /** Waits for a declaration to count are not what is tested: all files are made old. */
  override declare(...declared: Parameters<Net["declare"]>): string {
    const file = super.declare(...declared);
    makeOld(file);
    return file;
  }

  /** As in the kit, with less to read. */
  override processes(): number[] {
    const mark = `HOME=${this.home}`;
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && processTable.environment(pid)?.includes(mark) === true);
  }

  /** Living processes by the session that they are marked for, hosts not among them. */
  lives(): Record<string, number> {
    const lives: Record<string, number> = {};
    for (const pid of this.processes()) {
      const mark = processTable.environment(pid)?.find((entry) => entry.startsWith("PTY_SESSION="));
      const name = mark?.slice("PTY_SESSION=".length);
      if (name !== undefined) lives[name] = (lives[name] ?? 0) + 1;
    }
    return lives;
  }

  hosts(): number[] {
    return this.processes().filter((pid) => processTable.commandLine(pid)?.includes("__session-host"));
  }

  /** How often a host has said that its session started. */
  startsLogged(): number {
    const logs = this.stateFiles().filter((path) => path.endsWith(".events.jsonl"));
    return logs.flatMap((path) => readFileSync(path, "utf8").match(/"session_start"/g) ?? []).length;
  }

  /** Sessions that ever had two lives at a time. */
  overlaps(): string[] {
    const path = join(this.home, "overlaps");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  }

  /** Files of the registry, of convoy's own folder and of the ledgers. */
  stateFiles(): string[] {
    return [this.pty, this.state, join(this.state, "sessions")].flatMap((folder) =>
      existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [],
    );
  }

  /** Temporary files, and locks: when nothing is under way there are none. */
  leftovers(): string[] {
    return this.stateFiles().filter((path) => path.includes(".tmp") || path.endsWith(".lock"));
  }

  /** Lets a minute pass for what killed writers left: then it may be swept, and their locks on configs be broken. */
  ageLeftovers(): void {
    const locks = [join(this.home, ".claude.json.lock")].filter((path) => existsSync(path));
    for (const path of [...this.leftovers(), ...locks]) makeOld(path);
  }

  /** JSON files of the network and the harness's config that do not parse. */
  torn(): string[] {
    const files = this.stateFiles().filter((path) => path.endsWith(".json"));
    const config = join(this.home, ".claude.json");
    if (existsSync(config)) files.push(config);
    return files.filter((path) => !isJson(readIfThere(path) ?? "null"));
  }

  /** In the record and in the ledger alike. */
  isParked(identity: string): boolean {
    const tags = [this.record(identity).tags, this.ledger(identity)?.tags ?? {}];
    return tags.every((found) => found["strategy.status"] === "flapping");
  }

  /** A pid that no process has. */
  deadPid(): number {
    return Bun.spawnSync(["true"]).pid;
  }

  /** Folders that the harness's config trusts. */
  trusted(): string[] {
    const { projects } = JSON.parse(readFileSync(join(this.home, ".claude.json"), "utf8"));
    return Object.keys(projects).filter((path) => projects[path].hasTrustDialogAccepted === true);
  }

  /** Content, inode and times of records, ledgers and holds. */
  records(): string[] {
    return snapshot(this.pty).filter((line) => /^\S+\.json /.test(line) && !line.includes("holder.json"));
  }
}

function makeOld(path: string): void {
  const then = Date.now() / 1000 - 120;
  try {
    utimesSync(path, then, then);
  } catch (error) {
    // A host at work removes its own.
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** Null for what is gone: hosts at work remove files of their own, and end. */
function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "")) return null;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

export interface Scenario {
  /** Makes the network as it is before the act. */
  prepare(net: CrashNet, variables: Variables): unknown;
  /** What is interrupted, by a kill of convoy itself or of the hosts that it started here or in `prepare`. */
  act(net: CrashNet, variables: Variables): Promise<Pick<Ran, "code"> | null>;
  /** The hosts are killed, and not convoy. */
  readonly hosts?: boolean;
  /** Breaks off what is around every write, too, as often as the rest. */
  readonly thorough?: boolean;
  /** Only these effects are of interest. */
  readonly only?: readonly string[];
  /** Of the plain passes. */
  readonly words?: readonly string[];
  /** Exit codes that the plain passes may end with. */
  readonly codes?: readonly number[];
  /** Sessions that run in the end; asked after each pass, where it depends on how far the act came. */
  expected(net: CrashNet): readonly string[] | Promise<readonly string[]>;
  /** What else must hold after the passes; gives what is wrong. */
  verify?(net: CrashNet): unknown;
}

/** For convoy's environment: how it, or its hosts, are killed or watched. */
type Variables = Readonly<Record<string, string>>;

/** One kill: the effect and how many of it were done by then. */
type Kill = readonly [effect: string, count: number];

/** Kills after each effect, up to the third time; gives the effects and what went wrong. */
export async function crashEverywhere(
  scenario: Scenario,
): Promise<{ readonly effects: string[]; readonly wrong: string[] }> {
  const { before, after } = await trace(scenario);
  const kills = [...after].flatMap(([name, count]): Kill[] => {
    const done = before.get(name) ?? 0;
    const most = scenario.thorough !== true && AROUND_WRITES.includes(name) ? 1 : MOST_TIMES;
    const times = scenario.only?.includes(name) === false ? 0 : Math.min(count - done, most);
    return Array.from({ length: times }, (_, index) => [name, done + index + 1]);
  });
  const wrong: string[] = [];
  const queue = [...kills];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const problem = await crashOnce(scenario, next);
      if (problem !== null) wrong.push(`${next.join(":")}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return { effects: [...new Set(kills.map(([name]) => name))].sort(), wrong: wrong.sort() };
}

/** The effects of one undisturbed run, of the act alone: those of `prepare` come before. */
async function trace(
  scenario: Scenario,
): Promise<{ before: Map<string, number>; after: Map<string, number> }> {
  const net = new CrashNet();
  const log = join(net.home, "effects");
  const hook = { [scenario.hosts === true ? "CONVOY_TEST_HOST_EFFECTS" : "CONVOY_TEST_EFFECTS"]: log };
  try {
    await scenario.prepare(net, scenario.hosts === true ? hook : {});
    await untilHostsAreIdle(net);
    const before = countEffects(log);
    await scenario.act(net, hook);
    if (scenario.hosts === true) await untilHostsAreIdle(net);
    return { before, after: countEffects(log) };
  } finally {
    await net.remove();
  }
}

/** A host goes on for a moment after its agent is known to run: to its session's log, and a little further. */
async function untilHostsAreIdle(net: CrashNet): Promise<void> {
  await until("the hosts to have started", () => net.startsLogged() >= net.hosts().length);
  let spent = "";
  let same = 0;
  await until("the hosts to be idle", () => {
    const now = net.hosts().map(cpuTicks).join();
    same = now === spent ? same + 1 : 0;
    spent = now;
    return same >= 5;
  });
}

/** User and system time of a process, as its stat file has them. */
function cpuTicks(pid: number): string {
  const fields = (readIfThere(`/proc/${pid}/stat`) ?? "").split(") ").at(-1)?.split(" ") ?? [];
  return fields.slice(11, 13).join(" ");
}

/** How often each effect was done, by the process that did it least often. */
function countEffects(path: string): Map<string, number> {
  const byProcess = new Map<string, number>();
  if (existsSync(path)) {
    for (const line of readFileSync(path, "utf8").trim().split("\n"))
      byProcess.set(line, (byProcess.get(line) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  for (const [line, count] of byProcess) {
    const name = line.split(" ")[0] ?? "";
    counts.set(name, Math.min(count, counts.get(name) ?? count));
  }
  return counts;
}

async function crashOnce(scenario: Scenario, [name, count]: Kill): Promise<string | null> {
  const net = new CrashNet();
  const hosts = scenario.hosts === true;
  const hook = { [hosts ? "CONVOY_TEST_HOST_KILL_AFTER" : "CONVOY_TEST_KILL_AFTER"]: `${name}:${count}` };
  try {
    await scenario.prepare(net, hosts ? hook : {});
    const acted = await scenario.act(net, hook);
    if (hosts) await until("the hosts to be killed", () => net.hosts().length === 0);
    else if (acted?.code !== KILLED) return `not killed: ${JSON.stringify(acted)}`;
    return await repair(net, scenario);
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 2_000) : String(error);
  } finally {
    await net.remove();
  }
}

/** Plain passes, then what must hold; null when all of it does. */
async function repair(net: CrashNet, scenario: Scenario): Promise<string | null> {
  const words = scenario.words ?? [];
  const { codes = [0] } = scenario;
  let seen = "";
  let good = false;
  for (let pass = 0; pass < PASSES && !good; pass += 1) {
    net.ageLeftovers();
    const { code, events } = await net.once(words);
    const sessions = await scenario.expected(net);
    const expected = Object.fromEntries(sessions.map((session) => [session, 1]));
    good = codes.includes(code) && (await livesBecome(net, expected));
    const said = events.filter(({ type }) => type !== "plan" && type !== "adopt");
    seen = JSON.stringify({ code, lives: net.lives(), expected, said }).slice(0, 2_000);
  }
  if (!good) return `not repaired by ${PASSES} passes: ${seen}`;
  const quiet = await nextPassDoesNothing(net, words);
  const wrong = {
    ...(quiet === null ? {} : { quiet }),
    ...(net.overlaps().length === 0 ? {} : { overlaps: net.overlaps() }),
    ...(net.torn().length === 0 ? {} : { torn: net.torn() }),
    ...(net.leftovers().length === 0 ? {} : { leftovers: net.leftovers() }),
  };
  if (Object.keys(wrong).length > 0) return JSON.stringify(wrong);
  const more = await scenario.verify?.(net);
  if (more !== undefined && more !== null) return JSON.stringify(more);
  return await downEndsAll(net);
}

const SETTLE_MS = 3_000;
const LOOK_MS = 20;

/** A process that is just starting, being replaced by its program, or ending, shows as none or as two for a moment. */
export async function livesBecome(net: CrashNet, expected: Record<string, number>): Promise<boolean> {
  const deadline = performance.now() + SETTLE_MS;
  while (!Bun.deepEquals(net.lives(), expected)) {
    if (performance.now() > deadline) return false;
    await Bun.sleep(LOOK_MS);
  }
  return true;
}

/** Hosts write too, when they put back what they lost: a pass that changes something itself does so each time. */
const QUIET_TRIES = 4;

async function nextPassDoesNothing(net: CrashNet, words: readonly string[]): Promise<unknown> {
  let last: unknown = null;
  for (let attempt = 0; attempt < QUIET_TRIES; attempt += 1) {
    const before = net.records();
    const { events, code } = await net.once(words);
    const after = net.records();
    const done = events.filter(({ type }) =>
      ["launch", "respawn", "heal", "death", "retire", "launch_failed", "session_flapping"].includes(type),
    );
    if (done.length > 0) return { code, done };
    if (Bun.deepEquals(before, after)) return null;
    last = { code, before, after };
  }
  return last;
}

async function downEndsAll(net: CrashNet): Promise<string | null> {
  const down = await net.convoy(["down", "--grace", "0.5"]);
  await until("the hosts to leave", () => net.hosts().length === 0);
  const left = net.lives();
  return down.code === 0 && Object.keys(left).length === 0
    ? null
    : `down: ${JSON.stringify({ ...down, left })}`;
}

/** KILLs one session's agent, if it runs, and waits until its host has left. */
export async function killAgent(net: CrashNet, identity: string): Promise<void> {
  const pid = net.pid(identity);
  if (pid !== null) kill(pid);
  await untilEnded(net, identity);
}

/** Waits until neither an agent nor its host runs. */
export async function untilEnded(net: CrashNet, identity: string): Promise<void> {
  await until(`${identity} and its host to end`, () => {
    const host = net.ledger(identity)?.host?.pid ?? 0;
    return net.pid(identity) === null && !net.hosts().includes(host);
  });
}

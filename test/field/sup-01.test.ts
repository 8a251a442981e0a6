/** SUP-01: a pid that now belongs to somebody else is not our session, and that somebody is left in peace. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Field, isAlive, kill, type Launch, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const SIGNALS = "HUP INT QUIT TERM USR1 USR2 ALRM CONT WINCH";

/** A program in a process group of its own that writes down every signal it can. */
async function startBystander(): Promise<{ pid: number; signals(): string }> {
  const log = field.put("signals", "");
  const traps = `for s in ${SIGNALS}; do trap "echo $s >>${log}" $s; done`;
  const script = `${traps}; echo ready; while :; do sleep 1000 & wait; done`;
  const child = Bun.spawn(["sh", "-c", script], {
    env: field.environment(),
    detached: true,
    stdin: "ignore",
    stdout: "pipe",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return { pid: child.pid, signals: () => readFileSync(log, "utf8") };
}

/** Starts `a` and takes it away with its host, as a power cut would: nobody writes down an end. */
async function startAndCut(): Promise<Launch> {
  expect(await field.once()).toMatchObject({ code: 0 });
  const [run] = await field.untilLaunched(1);
  kill(run!.hostPid, "SIGKILL");
  kill(run!.pid, "SIGKILL");
  await until("both to be gone", () => !isAlive(run!.hostPid) && !isAlive(run!.pid));
  return run!;
}

const pidFile = () => join(field.network, "pty/box.a.pid");

/** Every place where convoy keeps a pid of this session now names `pid`: what a reboot does with small numbers. */
function recyclePid(pid: number | string, run: Launch): void {
  writeFileSync(pidFile(), `${pid}\n`);
  for (const path of ["pty/box.a.json", "pty/.convoy/sessions/box.a.json"]) {
    const full = join(field.network, path);
    const text = readFileSync(full, "utf8");
    const numbers = new RegExp(`("(?:pid|daemonPid)": ?)(?:${run.pid}|${run.hostPid})\\b`, "g");
    writeFileSync(full, text.replaceAll(numbers, `$1${pid}`));
  }
}

async function untilSecondLaunch(): Promise<void> {
  await field.untilLaunched(2);
  expect(await field.once()).toMatchObject({ code: 0 });
  expect(field.launches()).toHaveLength(2);
}

test.each([
  ["in the pid file only", false],
  ["everywhere", true],
])(
  "the pid of a bystander, %s",
  async (_what, everywhere) => {
    field.declare("a");
    const run = await startAndCut();
    const bystander = await startBystander();
    if (everywhere) recyclePid(bystander.pid, run);
    else writeFileSync(pidFile(), `${bystander.pid}\n`);

    expect(await field.once()).toMatchObject({ code: 0 });
    await untilSecondLaunch();
    expect(await field.convoy(["reset", "a", "--network", field.network])).toMatchObject({ code: 0 });
    expect(await field.convoy(["down", field.network])).toMatchObject({ code: 0 });

    expect(field.launches()).toHaveLength(2);
    expect(field.launches().filter(({ pid, hostPid }) => isAlive(pid) || isAlive(hostPid))).toEqual([]);
    expect([isAlive(bystander.pid), bystander.signals()]).toEqual([true, ""]);
  },
  TEST_MS,
);

test.each([
  ["pid 1", 1, []],
  ["convoy's own pid", "$$", ["sh", "-c", 'printf "%s\\n" $$ >"$0"; exec "$@"']],
] as const)(
  "%s",
  async (_what, pid, through) => {
    field.declare("a");
    const run = await startAndCut();
    if (pid === 1) recyclePid(pid, run);
    const words = through.length === 0 ? [] : [...through, pidFile()];
    expect(await field.once({ through: words })).toMatchObject({ code: 0 });
    await untilSecondLaunch();
    if (pid === 1) recyclePid(1, field.launches()[1]!);
    expect(await field.convoy(["down", field.network], { through: words })).toMatchObject({ code: 0 });
    expect(field.launches()).toHaveLength(2);
    expect(existsSync("/proc/1")).toBe(true);
  },
  TEST_MS,
);

/** With nobody attached, a harness has taken its first prompt as soon as in a pane of tmux. Figures of this machine. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { formatHarnessLine } from "../../src/harness.ts";
import { processTable } from "../../src/system/processes.ts";
import { until } from "../e2e/kit.ts";
import { AGENT_ENV, HarnessNet, note, PATIENCE_MS, PROGRAMS, type Program, shownOn } from "./kit.ts";

setDefaultTimeout(20 * PATIENCE_MS);

const RUNS = 5;
/** How much later than in tmux it may be there, and what a busy machine adds to a comparison, in parts of the whole. */
const MARGIN_MS = 200;
const NOISE = 0.1;
/** A program that is there by itself within the first of these has to be there within the second. */
const QUICK_MS = 800;
const SECOND_MS = 1_000;
const LOOK_MS = 20;

let net: HarnessNet;
let workspace: string;
beforeEach(() => {
  net = new HarnessNet();
  workspace = net.folder("work");
});
afterEach(() => net.remove());

/** From the start of a process to now, in ms; both clocks count from the machine's start, in steps of 10 ms. */
function ageMs(pid: number): number {
  const row = processTable.row(pid);
  if (row === null || row === "hidden") throw new Error(`process ${pid} is gone`);
  const uptime = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Math.round(uptime * 1_000 - Number(row.start) * 10);
}

/** Looks at a screen until the prompt is on it; answers the age of the process then. */
async function untilPrompt(program: Program, pid: number, look: () => Promise<string>): Promise<number> {
  let screen = "";
  return await until(
    `${program} to take its prompt`,
    async () => {
      screen = await look();
      if (shownOn(screen, program) === "prompt") return ageMs(pid);
      await Bun.sleep(LOOK_MS);
      return null;
    },
    () => screen,
    PATIENCE_MS,
  );
}

async function inConvoy(program: Program): Promise<number> {
  const launching = net.once();
  const pid = await net.running(program);
  const age = await untilPrompt(program, pid, () => net.glance(program));
  expect((await launching).code).toBe(0);
  expect((await net.convoy(["down", "--agent", program])).code).toBe(0);
  expect((await net.convoy(["release", program])).code).toBe(0);
  return age;
}

function tmux(...words: string[]): string {
  const env = { ...net.env(AGENT_ENV), TMUX_TMPDIR: net.home, TERM: "xterm-256color", SHELL: "/bin/sh" };
  const command = ["tmux", "-L", "t", "-f", join(net.home, "tmux.conf"), ...words];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: workspace, env });
  if (exitCode !== 0) throw new Error(`tmux ${words.join(" ")}: ${stderr}`);
  return stdout.toString();
}

async function inTmux(program: Program): Promise<number> {
  const line = formatHarnessLine({ harness: program, bin: null, model: null, prompt: "Read your inbox." });
  const format = ["-P", "-F", "#{pane_pid}"];
  const size = ["-x", "80", "-y", "24"];
  const pid = Number(tmux("new-session", "-d", "-s", program, ...size, ...format, `exec ${line}`));
  const age = await untilPrompt(program, pid, async () => tmux("capture-pane", "-p", "-t", program));
  tmux("kill-session", "-t", program);
  await until(`${program} to end`, () => processTable.row(pid) === null);
  return age;
}

const best = (ages: readonly number[]) => Math.min(...ages);
const median = (ages: readonly number[]) => ages.toSorted((a, b) => a - b)[Math.floor(ages.length / 2)] ?? 0;

interface Measured {
  readonly convoy: readonly number[];
  readonly tmux: readonly number[];
}

async function measure(program: Program): Promise<Measured> {
  const convoy: number[] = [];
  const inPane: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    convoy.push(await inConvoy(program));
    inPane.push(await inTmux(program));
  }
  const told = (ages: readonly number[]) => `${median(ages)} ms (${ages.join(", ")})`;
  console.info(
    `${program}, from its start to its first prompt, median of ${RUNS}: in convoy ${told(convoy)}, in tmux ${told(inPane)}`,
  );
  return { convoy, tmux: inPane };
}

const isLate = (inConvoy: number, inPane: number) => inConvoy > inPane * (1 + NOISE) + MARGIN_MS;

/** What is too late by its best run and in every pair of runs side by side; on a busy machine one of the two may be chance. */
function tooLate({ convoy, tmux: pane }: Measured): string[] {
  const always = convoy.every((age, run) => isLate(age, pane[run] ?? 0));
  return [
    ...(always && isLate(best(convoy), best(pane))
      ? [`${best(convoy)} ms in convoy, ${best(pane)} ms in tmux`]
      : []),
    ...(best(pane) <= QUICK_MS && best(convoy) > SECOND_MS ? [`${best(convoy)} ms`] : []),
  ];
}

if (process.platform !== "linux" || Bun.which("tmux") === null) {
  note("skipped: first prompt beside tmux: it needs Linux, and tmux on the PATH");
} else {
  for (const program of PROGRAMS) {
    test(`${program} has taken its first prompt no later than in tmux`, async () => {
      net.put("tmux.conf", "set -g status off\n");
      tmux("new-session", "-d", "-s", "first", "exec sleep 100000");
      net.declareHarness({ identity: program, program }, { workspace });
      // What a program does at its very first start only.
      await inConvoy(program);
      let late = tooLate(await measure(program));
      if (late.length > 0) late = tooLate(await measure(program));
      expect(late).toEqual([]);
    });
  }
}

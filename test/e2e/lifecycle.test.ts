/** What becomes of agents when their supervisor goes: nothing. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, isAlive, kill, Net, until } from "./kit.ts";
import { PersonTerminal } from "./terminal.ts";

setDefaultTimeout(2 * DEADLINE_MS);

const AGENTS = ["a", "b", "c"];
let net: Net;
beforeEach(() => {
  net = new Net();
  for (const identity of AGENTS) net.declare(identity, { command: `exec agent ${identity} beat` });
});
afterEach(() => net.remove());

interface Ending {
  /** Starts a supervisor in a way that can be ended so. */
  start(): { readonly pid: number; readonly ended: Promise<number>; end(): void };
  /** Whether it can still say goodbye. */
  readonly detaches: boolean;
}

function signalled(signal: NodeJS.Signals, detaches: boolean): Ending {
  return {
    detaches,
    start() {
      const child = net.spawn(["up"]);
      return { pid: child.pid, ended: child.exited, end: () => child.kill(signal) };
    },
  };
}

/** Below a shell, as a person has it: both are in the group that is killed, or on the terminal that is closed. */
const LINE = () => ["sh", "-c", `"${BINARY}" up --network "${net.root}"; exit`];

const ENDINGS: Readonly<Record<string, Ending>> = {
  TERM: signalled("SIGTERM", true),
  INT: signalled("SIGINT", true),
  HUP: signalled("SIGHUP", true),
  KILL: signalled("SIGKILL", false),
  "its terminal closed": {
    detaches: true,
    start() {
      const child = Bun.spawn(LINE(), {
        cwd: net.home,
        env: net.env(),
        terminal: { cols: 80, rows: 24, data: () => undefined },
      });
      return { pid: child.pid, ended: child.exited, end: () => child.terminal?.close() };
    },
  },
  "its process group killed": {
    detaches: false,
    start() {
      const child = Bun.spawn(LINE(), {
        cwd: net.home,
        env: net.env(),
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      return { pid: child.pid, ended: child.exited, end: () => process.kill(-child.pid, "SIGKILL") };
    },
  },
};

const pids = () => AGENTS.map((identity) => net.pid(identity));

/** The agents go on printing, as the processes that they were. */
async function expectPrinting(before: readonly (number | null)[]): Promise<void> {
  const beats = AGENTS.map((identity) => net.beats(identity));
  await until("three more lines of each agent", () =>
    AGENTS.every((identity, index) => net.beats(identity) >= beats[index]! + 3),
  );
  expect(pids()).toEqual([...before]);
}

for (const [name, ending] of Object.entries(ENDINGS)) {
  test(`SUP-A02 SUP-T01 SUP-R13: a supervisor that ends by ${name} leaves every agent running, and the next adopts them`, async () => {
    const supervisor = ending.start();
    await until("three agents to run", () => AGENTS.every((identity) => net.pid(identity) !== null));
    await until("three agents to print", () => AGENTS.every((identity) => net.beats(identity) > 0));
    const before = pids();
    const { pid } = await net.event("up");
    supervisor.end();
    await supervisor.ended;
    await until("the supervisor to be gone", () => !isAlive(pid));
    await expectPrinting(before);
    expect(net.said("detach").map((event) => event.kept)).toEqual(ending.detaches ? [3] : []);

    const after = net.events().length;
    const next = await net.up();
    for (const identity of AGENTS) await net.event("adopt", (event) => event.identity === identity, after);
    await expectPrinting(before);
    expect(
      net
        .events()
        .slice(after)
        .filter(({ type }) => ["launch", "respawn", "death"].includes(type)),
    ).toEqual([]);
    expect(AGENTS.map((identity) => net.runs(identity).length)).toEqual([1, 1, 1]);
    next.signal("SIGTERM");
    expect(await next.ended).toBe(0);
  });
}

test("SUP-T01 SUP-R13: a supervisor asked to stop says how many sessions it leaves, and exits 0", async () => {
  const child = net.spawn(["up"]);
  await until("three agents to run", () => AGENTS.every((identity) => net.pid(identity) !== null));
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stdout).text()).toEndWith(
    `detached: 3 sessions left running; to end them: convoy down --network ${net.root}\n`,
  );
  expect(pids()).not.toContain(null);
});

const STOP_OUTPUT = "\x13";
const START_OUTPUT = "\x11";

test("SUP-R11: a terminal that a person stopped with Ctrl-S does not hold recovery up, and shows it later", async () => {
  const command = [BINARY, "up", "--network", net.root];
  const terminal = new PersonTerminal({ command, env: net.env(), cwd: net.home });
  const before = await net.running("a");
  await terminal.shows("box.c started");
  terminal.type(STOP_OUTPUT);
  for (let pid = before, round = 0; round < 3; round += 1) {
    kill(pid);
    pid = await net.running("a", pid);
  }
  expect(terminal.text).not.toContain("respawn");
  terminal.type(START_OUTPUT);
  await terminal.shows("respawn");
  terminal.type(STOP_OUTPUT);
  kill(net.pid("b"));
  await net.event("respawn", ({ identity }) => identity === "b");
  terminal.child.kill("SIGTERM");
  expect(await terminal.child.exited).toBe(0);
});

test("a supervisor in the background runs its command for events where it was typed", async () => {
  writeFileSync(join(net.home, "tell"), '#!/bin/sh\ncat >/dev/null\npwd >"$HOME/told"\n', { mode: 0o755 });
  const { code, stderr } = await net.convoy(["up", "--detach", "--on-event", "./tell"]);
  expect([code, stderr.includes("warning")]).toEqual([0, false]);
  kill(await net.running("a"));
  const told = join(net.home, "told");
  expect(await until("the command to run", () => existsSync(told) && readFileSync(told, "utf8"))).toBe(
    `${net.home}\n`,
  );
});

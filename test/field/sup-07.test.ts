/** SUP-07: no answer is no death: nothing is started twice, no file goes, and no command hangs. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Field, isAlive, kill, type Launch, TEST_MS, until } from "./kit.ts";

let field: Field;
const servers: Server[] = [];
beforeEach(() => {
  field = new Field();
  for (const name of ["a", "b"]) field.declare(name);
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await field.remove();
});

/** Longest time for any command: the probes have five seconds, all at once. */
const BOUND_MS = 20_000;
const socket = () => join(field.network, "pty/box.a.sock");

async function startBoth(): Promise<readonly Launch[]> {
  expect((await field.once()).code).toBe(0);
  return (await field.untilLaunched(2)).toSorted((a, b) => a.busId.localeCompare(b.busId));
}

async function expectBounded(words: readonly string[], codes: readonly number[]): Promise<void> {
  const before = performance.now();
  const ran = await field.convoy(words);
  expect(codes).toContain(ran.code);
  expect(performance.now() - before).toBeLessThan(BOUND_MS);
}

function expectSame(runs: readonly Launch[]): void {
  expect(field.launches()).toHaveLength(2);
  expect(runs.every(({ pid, hostPid }) => isAlive(pid) && isAlive(hostPid))).toBe(true);
  expect(existsSync(socket())).toBe(true);
}

test(
  "a host that is suspended",
  async () => {
    const runs = await startBoth();
    kill(runs[0]!.hostPid, "SIGSTOP");
    await expectBounded(["up", field.network, "--once"], [0, 1]);
    await expectBounded(["ls", field.network], [0]);
    kill(runs[0]!.hostPid, "SIGCONT");
    expect((await field.once()).code).toBe(0);
    expectSame(runs);
  },
  TEST_MS,
);

test(
  "a socket that accepts and never answers",
  async () => {
    const runs = await startBoth();
    renameSync(socket(), join(field.root, "aside"));
    const mute = createServer(() => {});
    servers.push(mute);
    await new Promise<void>((resolve) => mute.listen(socket(), resolve));
    await expectBounded(["up", field.network, "--once"], [0, 1]);
    await expectBounded(["ls", field.network], [0]);
    expectSame(runs);
  },
  TEST_MS,
);

test(
  "a laptop that sleeps: supervisor and hosts are suspended together",
  async () => {
    const supervisor = await field.supervise(["--interval", "0.5"]);
    const runs = await field.untilLaunched(2);
    await until("both to be said", () => supervisor.of("launch").length === 2);
    const all = [supervisor.pid, ...runs.map(({ hostPid }) => hostPid)];
    for (const pid of all) kill(pid, "SIGSTOP");
    await Bun.sleep(3_000);
    for (const pid of all) kill(pid, "SIGCONT");
    const plans = supervisor.of("plan").length;
    field.declare("tick", "", { host: "elsewhere" });
    await until("the supervisor to look", () => supervisor.of("plan").length > plans);
    expectSame(runs);
    expect(supervisor.of("death")).toEqual([]);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

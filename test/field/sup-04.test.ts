/** SUP-04: however many bring-ups start at once, every agent is started once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, isAlive, type Supervisor, TEST_MS, until } from "./kit.ts";

const AGENTS = ["a", "b", "c", "d", "e"];

let field: Field;
beforeEach(() => {
  field = new Field();
  for (const name of AGENTS) {
    field.declare(name);
    field.behave(`box.${name}`, "sleep 2; echo reachable");
  }
});
afterEach(() => field.remove());

async function expectOneLaunchEach(): Promise<void> {
  await field.untilLaunched(AGENTS.length);
  expect(await field.once()).toMatchObject({ code: 0 });
  const launches = field.launches();
  expect(launches.map(({ busId }) => busId).sort()).toEqual(AGENTS.map((name) => `box.${name}`));
  expect(launches.every(({ pid }) => isAlive(pid))).toBe(true);
}

test(
  "ten at once",
  async () => {
    const ran = await Promise.all(Array.from({ length: 10 }, () => field.once()));
    const losers = ran.filter(({ code }) => code !== 0);
    expect(losers.length).toBeGreaterThan(0);
    for (const { code, stderr } of losers) {
      expect(code).toBe(4);
      expect(stderr).toMatch(/^convoy: .*\bpid \d+ holds \S+\/n\n/);
    }
    await expectOneLaunchEach();
  },
  TEST_MS,
);

test(
  "two that stay and one that passes",
  async () => {
    const settled = await Promise.allSettled([field.supervise(), field.supervise()]);
    const staying = settled.filter((one) => one.status === "fulfilled").map((one) => one.value);
    expect(staying).toHaveLength(1);
    const supervisor: Supervisor = staying[0]!;
    const passing = await field.convoy(["up", field.network, "--once"]);
    expect(passing.code).toBe(4);
    expect(passing.stderr).toContain(`pid ${supervisor.pid} holds`);
    await field.untilLaunched(AGENTS.length);
    expect(supervisor.child.exitCode).toBeNull();
    expect(await supervisor.end()).toBe(0);
    await expectOneLaunchEach();
  },
  TEST_MS,
);

test.each([0, 1, 3])(
  "the holder is killed when %d agents have started",
  async (started) => {
    const holder = field.spawn(["up", field.network, "--once", "--json"]);
    const text = new Response(holder.stdout).text();
    await until("the first launches", () => field.launches().length >= started || holder.exitCode !== null);
    holder.kill("SIGKILL");
    await holder.exited;
    await text;
    const again = await field.once();
    expect(again).toMatchObject({ code: 0, stderr: "" });
    await expectOneLaunchEach();
  },
  TEST_MS,
);

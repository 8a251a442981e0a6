/** SUP-05: parked outlives supervisors, the count too; a changed command, `reset` or a removed tag clears it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Field, isAlive, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  field.declare("a");
});
afterEach(() => field.remove());

const state = async () => (await field.list())[0]?.state;
const behaviour = () => join(field.root, "behave/box.a");
const CRASH = "exit 3";

/** Crashes until it is parked, under one supervisor after another. */
async function park(): Promise<number> {
  field.behave("box.a", CRASH);
  const supervisor = await field.supervise();
  await until("it to be parked", () => supervisor.of("session_flapping").length === 1);
  expect(await supervisor.end()).toBe(0);
  return field.launches().length;
}

async function expectRunsAgain(after: number): Promise<void> {
  const runs = await field.untilLaunched(after + 1);
  await field.once();
  expect(field.launches()).toHaveLength(after + 1);
  expect(isAlive(runs.at(-1)!.pid)).toBe(true);
  expect(await state()).toBe("running");
}

test(
  "the count is carried over a killed supervisor",
  async () => {
    field.behave("box.a", `[ "$(wc -l <${field.root}/runs.log)" -ge 3 ] && sleep 1000000; ${CRASH}`);
    const first = await field.supervise();
    await field.untilLaunched(3);
    await until("the second failure to be counted", () => first.of("respawn").length === 2);
    await first.end("SIGKILL");
    field.behave("box.a", CRASH);
    const second = await field.supervise();
    process.kill(field.launches()[2]!.pid, "SIGKILL");
    await until("it to be parked", () => second.of("session_flapping").length === 1);
    const [flapping] = second.of("session_flapping");
    expect(field.launches().length).toBeLessThanOrEqual(4);
    expect(flapping).toMatchObject({ limit: 3 });
    expect(await second.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "neither a pass nor a fresh supervisor tries a parked one, though it would work now",
  async () => {
    const count = await park();
    rmSync(behaviour());
    expect((await field.once()).code).toBe(1);
    const supervisor = await field.supervise(["--interval", "0.3"]);
    const passes = supervisor.of("plan");
    expect(passes.at(-1)).toMatchObject({ agents: [{ blocked: "parked" }], launch: [] });
    const { stdout } = await field.convoy(["ls", field.network]);
    expect(stdout).toContain("flapping");
    expect(stdout).toContain("convoy reset a");
    expect(await supervisor.end()).toBe(0);
    expect(field.launches()).toHaveLength(count);
  },
  TEST_MS,
);

test(
  "a changed command clears it",
  async () => {
    const count = await park();
    rmSync(behaviour());
    field.declare("a", 'model = "another"');
    expect((await field.once()).code).toBe(0);
    await expectRunsAgain(count);
  },
  TEST_MS,
);

test(
  "reset clears it, at once under a running supervisor",
  async () => {
    const count = await park();
    rmSync(behaviour());
    const supervisor = await field.supervise(["--interval", "1000"]);
    expect(await field.convoy(["reset", "a", "--network", field.network])).toMatchObject({ code: 0 });
    await field.untilLaunched(count + 1);
    expect(await supervisor.end()).toBe(0);
    await expectRunsAgain(count);
  },
  TEST_MS,
);

test(
  "removing the status tag clears it, as another program does that",
  async () => {
    const count = await park();
    rmSync(behaviour());
    const path = join(field.network, "pty/box.a.json");
    const record = JSON.parse(readFileSync(path, "utf8"));
    delete record.tags["strategy.status"];
    writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`);
    expect((await field.once()).code).toBe(0);
    await expectRunsAgain(count);
  },
  TEST_MS,
);

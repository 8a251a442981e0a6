/** DWN-04: nothing starts again what was just ended, and no old order ends what was started since. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { Field, isAlive, type Launch, type Supervisor, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  for (const name of ["a", "b"]) field.declare(name);
});
afterEach(() => field.remove());

const alive = (runs: readonly Launch[] = field.launches()) => runs.filter(({ pid }) => isAlive(pid)).length;

/** Waits until the supervisor has looked three times more: an agent declared for another host shows that it did. */
async function threeTicks(supervisor: Supervisor): Promise<void> {
  for (let tick = 0; tick < 3; tick += 1) {
    const before = supervisor.of("plan").length;
    field.declare(`tick${tick}`, "", { host: "elsewhere" });
    await until("the supervisor to look", () => supervisor.of("plan").length > before);
  }
}

async function startUnder(supervisor: Supervisor): Promise<void> {
  await until("both to run", () => supervisor.of("launch").length === 2);
  await field.untilLaunched(2);
}

test(
  "down beside a running supervisor, then a pass, then release",
  async () => {
    const supervisor = await field.supervise(["--interval", "0.3"]);
    await startUnder(supervisor);
    expect((await field.convoy(["down", field.network])).code).toBe(0);
    expect(alive()).toBe(0);
    await threeTicks(supervisor);
    expect([alive(), field.launches().length]).toEqual([0, 2]);
    expect(await supervisor.end()).toBe(0);

    const held = await field.once();
    expect(held.code).toBe(0);
    expect(held.events.filter(({ type }) => type === "held").map(({ identity }) => identity)).toEqual([
      "a",
      "b",
    ]);
    expect(field.launches()).toHaveLength(2);

    expect((await field.convoy(["release", "--network", field.network])).code).toBe(0);
    expect((await field.once()).code).toBe(0);
    await field.untilLaunched(4);
    expect((await field.once()).code).toBe(0);
    expect([alive(), field.launches().length]).toEqual([2, 4]);
  },
  TEST_MS,
);

test.each([50, 150, 300])(
  "down is killed after %d ms: a supervisor starts each once and nothing is ended later",
  async (afterMs) => {
    for (const name of ["a", "b"]) field.behave(`box.${name}`, "trap '' TERM HUP; while :; do sleep 1; done");
    expect((await field.once()).code).toBe(0);
    await field.untilLaunched(2);
    const down = field.spawn(["down", field.network]);
    await Bun.sleep(afterMs);
    down.kill("SIGKILL");
    await down.exited;
    for (const name of ["a", "b"]) field.behave(`box.${name}`, "");
    const before = alive();
    const supervisor = await field.supervise(["--interval", "0.3"]);
    await until("both to run", () => alive() === 2);
    await threeTicks(supervisor);
    expect(alive()).toBe(2);
    expect(field.launches().length).toBe(2 + 2 - before);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "a network whose name begins the same is not touched",
  async () => {
    const other = join(field.root, "n2");
    field.makeNetwork(other);
    field.declare("ab", "", { network: other });
    field.declare("a2", "", { network: other });
    expect((await field.once()).code).toBe(0);
    expect((await field.once({ network: other })).code).toBe(0);
    const runs = await field.untilLaunched(4);
    expect((await field.convoy(["down", field.network])).code).toBe(0);
    const left = runs.filter(({ pid }) => isAlive(pid)).map(({ busId }) => busId);
    expect(left.sort()).toEqual(["box.a2", "box.ab"]);
  },
  TEST_MS,
);

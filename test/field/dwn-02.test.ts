/** DWN-02: what is dead already is no failure to end. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const inRegistry = (name: string) => join(field.network, "pty", name);

test(
  "host and child are gone",
  async () => {
    field.declare("a");
    expect((await field.once()).code).toBe(0);
    const [run] = await field.untilLaunched(1);
    kill(run!.hostPid, "SIGKILL");
    kill(run!.pid, "SIGKILL");
    await until("both to be gone", () => !isAlive(run!.hostPid) && !isAlive(run!.pid));

    expect((await field.convoy(["down", field.network])).code).toBe(0);
    const names = ["box.a.sock", "box.a.pid", "box.a.json", ".convoy/sessions/box.a.json"];
    expect(names.map((name) => existsSync(inRegistry(name)))).toEqual([false, false, true, true]);
    const before = readdirSync(inRegistry("")).sort();
    const again = await field.convoy(["down", field.network, "--json"]);
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining("convoy: ") });
    expect(JSON.parse(again.stdout)).toMatchObject({ planned: 0, stopped: 0, failed: 0 });
    expect(readdirSync(inRegistry("")).sort()).toEqual(before);

    const supervisor = await field.supervise();
    await field.untilLaunched(2);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "an empty network",
  async () => {
    expect((await field.convoy(["down", field.network])).code).toBe(0);
    expect((await field.convoy(["down", field.network])).code).toBe(0);
  },
  TEST_MS,
);

test(
  "agents that end by themselves meanwhile",
  async () => {
    const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
    for (const name of names) {
      field.declare(name);
      field.behave(`box.${name}`, `while [ ! -e ${field.root}/go ]; do sleep 0.02; done; exit 0`);
    }
    expect((await field.once()).code).toBe(0);
    const runs = await field.untilLaunched(20);
    const down = field.convoy(["down", field.network]);
    field.put("go", "");
    expect((await down).code).toBe(0);
    await until("all to be gone", () => runs.every(({ pid, hostPid }) => !isAlive(pid) && !isAlive(hostPid)));
    expect(readdirSync(inRegistry("")).filter((name) => /\.(sock|pid)$/.test(name))).toEqual([]);
    for (const name of names) field.behave(`box.${name}`, "");
    const supervisor = await field.supervise();
    await field.untilLaunched(40);
    expect(await supervisor.end()).toBe(0);
    expect(field.launches()).toHaveLength(40);
  },
  TEST_MS,
);

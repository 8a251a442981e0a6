/** SUP-08: one bad registry file hides and blocks nothing else. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Field, isAlive, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  for (const name of ["a", "b", "c"]) field.declare(name);
});
afterEach(() => field.remove());

const inRegistry = (name: string) => join(field.network, "pty", name);

test(
  "an empty record, a torn one, a folder and a leftover among three running agents",
  async () => {
    expect(await field.once()).toMatchObject({ code: 0 });
    const runs = await field.untilLaunched(3);
    const damage = () => {
      writeFileSync(inRegistry("box.a.json"), "");
      writeFileSync(inRegistry("box.b.json"), '{"command": "sh", "ar');
      mkdirSync(inRegistry("z.json"), { recursive: true });
      writeFileSync(inRegistry("x.json.tmp.1.a"), "{");
    };

    damage();
    const rows = await field.list();
    expect(rows.find(({ identity }) => identity === "c")?.state).toBe("running");
    expect(rows.map(({ pid }) => pid).sort()).toEqual(runs.map(({ pid }) => pid).sort());
    const { stderr } = await field.convoy(["ls", field.network]);
    expect(stderr).toContain("z.json");

    damage();
    expect([0, 1]).toContain((await field.once()).code);
    expect(field.launches()).toEqual(runs);
    expect(runs.every(({ pid, hostPid }) => isAlive(pid) && isAlive(hostPid))).toBe(true);

    damage();
    const down = await field.convoy(["down", field.network, "--json"]);
    expect(down.code).toBe(0);
    expect(JSON.parse(down.stdout)).toMatchObject({ planned: 3, stopped: 3 });
    expect(runs.filter(({ pid, hostPid }) => isAlive(pid) || isAlive(hostPid))).toEqual([]);
  },
  TEST_MS,
);

test(
  "twenty changes of one session's record at once",
  async () => {
    expect(await field.once()).toMatchObject({ code: 0 });
    const path = inRegistry("box.a.json");
    const read = () => JSON.parse(readFileSync(path, "utf8"));
    const before = read();
    const counted = { ...before.tags, "strategy.consecutive-fast-fails": "2", mine: "kept" };
    writeFileSync(path, `${JSON.stringify({ ...before, tags: counted }, null, 2)}\n`);
    let running = true;
    const commands = Promise.all(
      Array.from({ length: 20 }, () => field.convoy(["reset", "a", "--network", field.network])),
    ).finally(() => {
      running = false;
    });
    for (; running; await Bun.sleep(1)) expect(read()).toMatchObject({ tags: { mine: "kept" } });
    expect((await commands).map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 0));
    expect(read()).toEqual({ ...before, tags: { ...before.tags, mine: "kept" } });
    await until("temporary files to be gone", () =>
      readdirSync(inRegistry("")).every((name) => !name.includes(".tmp")),
    );
  },
  TEST_MS,
);

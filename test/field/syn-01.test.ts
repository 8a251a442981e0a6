/** SYN-01: what a sync tool or an editor keeps beside a declaration is named, and never a second declaration. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Field, isAlive, problemsIn, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const CONFLICTS = [
  "agent.sync-conflict-20261130-101010-ABCDEFG.toml",
  "agent (box's conflicted copy 2026-11-30).toml",
];
const LEFTOVERS = ["agent.toml~", "agent.toml.orig"];

test.each([
  ["in the agent's folder", "box/a/agent.toml"],
  ["in a folder of another name", "fleet/agent.toml"],
])(
  "conflict copies %s",
  async (_what, path) => {
    const file = field.declare("a", "", { path });
    const text = readFileSync(file, "utf8");
    const [renamed = "", retired = ""] = CONFLICTS;
    const beside = (name: string, content: string) => field.put(join(dirname(file), name), content);
    beside(renamed, `${text}bin = "codex"\n`);
    beside(retired, `${text}retired = true\n`);
    for (const name of LEFTOVERS) beside(name, text.replace('"a"', '"other"'));

    for (let pass = 0; pass < 2; pass += 1) {
      const ran = await field.once();
      expect(ran).toMatchObject({ code: 0 });
      const said = problemsIn(ran.events);
      expect(said.map(({ path }) => path).sort()).toEqual(
        CONFLICTS.map((name) => join(dirname(path), name)).sort(),
      );
    }
    const runs = await field.untilLaunched(1);
    expect(runs.map(({ busId, argv }) => [busId, argv.split(" ")[0]])).toEqual([["box.a", "claude"]]);
    expect(isAlive(runs[0]!.pid)).toBe(true);
    expect((await field.list()).map(({ identity, state }) => [identity, state])).toEqual([["a", "running"]]);
  },
  TEST_MS,
);

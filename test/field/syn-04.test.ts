/** SYN-04: a catalog that is missing, empty or closed, or a file that is gone, ends nothing and is said. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Field, isAlive, type Launch, problemsIn, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field({ unprivileged: true });
  for (const name of ["a", "b"]) field.declare(name);
});
afterEach(() => field.remove());

const catalog = () => join(field.network, "catalog");
const aside = () => join(field.root, "aside");

async function startBoth(): Promise<readonly Launch[]> {
  expect(await field.once()).toMatchObject({ code: 0, stderr: "" });
  return await field.untilLaunched(2);
}

function expectUndisturbed(runs: readonly Launch[]): void {
  expect(field.launches()).toEqual([...runs]);
  expect(runs.filter(({ pid, hostPid }) => !isAlive(pid) || !isAlive(hostPid))).toEqual([]);
}

interface Damage {
  readonly what: string;
  readonly does: () => void;
  readonly undoes: () => void;
  readonly said: RegExp;
}

const DAMAGES: readonly Damage[] = [
  {
    what: "an empty catalog",
    does: () => renameSync(join(catalog(), "box"), aside()),
    undoes: () => renameSync(aside(), join(catalog(), "box")),
    said: /./,
  },
  {
    what: "no catalog",
    does: () => renameSync(catalog(), aside()),
    undoes: () => renameSync(aside(), catalog()),
    said: /catalog/,
  },
  {
    what: "an unreadable catalog",
    does: () => chmodSync(catalog(), 0o000),
    undoes: () => chmodSync(catalog(), 0o755),
    said: /catalog|read|permission/i,
  },
  {
    what: "one file deleted",
    does: () => renameSync(join(catalog(), "box/a/agent.toml"), aside()),
    undoes: () => renameSync(aside(), join(catalog(), "box/a/agent.toml")),
    said: /a\b/,
  },
];

test.each(DAMAGES)(
  "$what",
  async ({ does, undoes, said, what }) => {
    const runs = await startBoth();
    const supervisor = await field.supervise(["--interval", "0.5"]);
    await until("both to be adopted", () => supervisor.of("adopt").length === 2);
    const before = problemsIn(supervisor.events).length;
    does();
    await until("it to be said", () => problemsIn(supervisor.events).length > before);
    expect(JSON.stringify(problemsIn(supervisor.events))).toMatch(said);
    expect(await supervisor.end()).toBe(0);
    expectUndisturbed(runs);

    const ran = await field.once();
    expect(problemsIn(ran.events)).not.toEqual([]);
    expectUndisturbed(runs);
    if (what === "no catalog") expect(existsSync(catalog())).toBe(false);

    undoes();
    const after = await field.once();
    expect(after).toMatchObject({ code: 0 });
    expect(problemsIn(after.events)).toEqual([]);
    expect(after.events.filter(({ type }) => type === "adopt")).toHaveLength(2);
    expectUndisturbed(runs);
  },
  TEST_MS,
);

test(
  "an old copy of a deleted file comes back: the same run",
  async () => {
    const runs = await startBoth();
    const file = join(catalog(), "box/a/agent.toml");
    const text = readFileSync(file, "utf8");
    rmSync(dirname(file), { recursive: true });
    await field.once();
    field.put(file, `${text}# as it was last week\nmodel = "older"\n`);
    expect(await field.once()).toMatchObject({ code: 0 });
    expectUndisturbed(runs);
  },
  TEST_MS,
);

test(
  "a retired agent stays retired beside an older copy that is not",
  async () => {
    const runs = await startBoth();
    const file = join(catalog(), "box/a/agent.toml");
    const text = readFileSync(file, "utf8");
    field.put(file, `${text}retired = true\n`);
    expect(await field.once()).toMatchObject({ code: 0 });
    const alive = runs.filter(({ pid }) => isAlive(pid));
    expect(alive.map(({ busId }) => busId)).toEqual(["box.b"]);
    const copy = "agent.sync-conflict-20261130-101010-ABCDEFG.toml";
    field.put(join(dirname(file), copy), text);
    const ran = await field.once();
    expect(JSON.stringify(problemsIn(ran.events))).toContain(copy);
    expect(field.launches()).toEqual([...runs]);
    expect(readdirSync(dirname(file)).sort()).toEqual([copy, "agent.toml"].sort());
  },
  TEST_MS,
);

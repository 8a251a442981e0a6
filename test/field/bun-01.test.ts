/** BUN-01: what a project keeps for its own runtime is neither read by convoy nor handed on. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_TABLE } from "../../src/cli/command-table.ts";
import { processTable } from "../../src/system/processes.ts";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { Field, TEST_MS, until } from "./kit.ts";

let field: Field;
let project: string;
beforeEach(() => {
  field = new Field();
  project = join(field.root, "project");
  const names = [".env", ".env.local", ".env.production", ".env.development"];
  for (const name of names)
    field.put(
      `project/${name}`,
      `LEAKED=${name}\nHOME=${field.root}/false\nCONVOY_NETWORK=${field.root}/false\n`,
    );
  const preload = field.put(
    "project/preload.ts",
    `await Bun.write(${JSON.stringify(join(field.root, "preloaded"))}, "");\n`,
  );
  field.put("project/bunfig.toml", `preload = ["${preload}"]\n[run]\npreload = ["${preload}"]\n`);
  field.put("project/package.json", '{"name":"project"}\n');
  field.put("project/tsconfig.json", "{}\n");
  for (const name of ["a", "b"]) field.declare(name, `workspace = "${project}"`);
});
afterEach(() => field.remove());

const OF_THE_PROJECT = /\/project\/(?:\.env|bunfig\.toml|preload\.ts|package\.json|tsconfig\.json)/;
/** Verbs that act on the network in an order in which each has something to do; the rest follow. */
const IN_ORDER = [
  ["up", "--once"],
  ["plan"],
  ["ls"],
  ["peek", "a"],
  ["logs", "a"],
  ["events"],
  ["env"],
  ["restart", "a"],
];
const AT_LAST = [["down"], ["release"], ["reset", "--all"]];

/** Nothing of the project in the environment of any living process of the field. */
function expectNothingLeaked(): void {
  expect(existsSync(join(field.root, "preloaded"))).toBe(false);
  expect(existsSync(join(field.root, "false"))).toBe(false);
  const living = field.living();
  const leaked = living.filter(({ pid }) =>
    (processTable.environment(pid) ?? []).some(
      (word) => word.startsWith("LEAKED=") || word.endsWith("/false"),
    ),
  );
  expect(leaked).toEqual([]);
}

/** Runs every verb there, put behind `tracer`. */
async function runEveryVerb(tracer: readonly string[] = []): Promise<void> {
  const known: readonly string[] = COMMAND_TABLE.map(({ name }) => name);
  const planned = [...IN_ORDER, ...AT_LAST].filter(([verb = ""]) => known.includes(verb));
  const others = known.filter((verb) => !planned.some(([one]) => one === verb) && verb !== "attach");
  const lines = [
    ["--version"],
    ...planned.slice(0, -AT_LAST.length),
    ...others.map((verb) => [verb, "--help"]),
    ...planned.slice(-AT_LAST.length),
  ];
  const said = join(field.root, "said");
  const through = ["sh", "-c", `exec "$@" >${said} 2>&1`, "sh", ...tracer];
  for (const words of lines) {
    const [verb = ""] = words;
    const named = verb.startsWith("--") || words.includes("--help") ? [] : ["--network", field.network];
    const ran = await field.convoy([...words, ...named], { cwd: project, through });
    expect([words, ran.code, readFileSync(said, "utf8")]).toEqual([words, 0, expect.any(String)]);
    expectNothingLeaked();
  }
  const runs = field.launches();
  expect(runs.length).toBeGreaterThanOrEqual(2);
  for (const run of runs) {
    expect(run.cwd).toBe(project);
    expect(field.environmentOf(run)).toMatchObject({ HOME: field.home, CONVOY_NETWORK: field.network });
    expect(field.environmentOf(run)).not.toHaveProperty("LEAKED");
  }
}

test("every verb, and agents whose workspace it is", () => runEveryVerb(), TEST_MS);

skippable(
  "every verb opens none of its files, nor does an agent's host",
  missingPrograms("strace"),
  async () => {
    const traced = join(field.root, "strace");
    // -D: convoy stays the child that is waited for, while what it leaves running is traced on, with none of our pipes.
    await runEveryVerb(["strace", "-D", "-f", "-qq", "-e", "trace=open,openat,openat2", "-A", "-o", traced]);
    const opened = readFileSync(traced, "utf8")
      .split("\n")
      .filter((line) => line.includes(" openat(") || line.includes(" open("));
    expect(opened.length).toBeGreaterThan(100);
    expect(
      opened.filter((line) => OF_THE_PROJECT.test(line) || /"(?:\.env[^"]*|bunfig\.toml)"/.test(line)),
    ).toEqual([]);
  },
  TEST_MS,
);

test(
  "a supervisor started there",
  async () => {
    const supervisor = await field.supervise([], { cwd: project });
    const runs = await field.untilLaunched(2);
    await until("both to be said", () => supervisor.of("launch").length === 2);
    expectNothingLeaked();
    for (const run of runs) expect(field.environmentOf(run)).not.toHaveProperty("LEAKED");
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

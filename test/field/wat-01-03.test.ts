/** WAT-01, WAT-02, WAT-03: a change of the catalog is acted on, and a passing state of a file is not. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { missingUnless, skippable } from "../support/skippable.ts";
import { Field, isAlive, problemsIn, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const catalog = () => join(field.network, "catalog");
/** So long that only the watcher can have seen it. */
const NEVER = ["--interval", "1000"];

test(
  "WAT-01: folders made later, replaced files, files born after the start",
  async () => {
    const there = field.declare("there");
    const supervisor = await field.supervise(NEVER);
    const [first] = await field.untilLaunched(1);

    mkdirSync(join(catalog(), "h/new"), { recursive: true });
    await Bun.sleep(300);
    const born = field.declare("born", "", { path: "h/new/agent.toml" });
    await field.untilLaunched(1, "box.born");

    field.declare("deep", "", { path: "one/two/three/agent.toml" });
    const [deep] = await field.untilLaunched(1, "box.deep");
    expect(isAlive(deep!.pid)).toBe(true);

    const replacement = field.put(`${there}.new`, `${readFileSync(there, "utf8")}retired = true\n`);
    renameSync(replacement, there);
    await until("the retired one to end", () => !isAlive(first!.pid));

    appendFileSync(born, "retired = true\n");
    await until("the other one to end", () => !isAlive(field.launches("box.born")[0]!.pid));
    expect(await supervisor.end()).toBe(0);
    expect(field.launches()).toHaveLength(3);
  },
  TEST_MS,
);

test(
  "WAT-01: behind a link that leaves the catalog, the timer sees it",
  async () => {
    const outside = join(field.root, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(catalog(), "linked"));
    const supervisor = await field.supervise(["--interval", "1"]);
    field.declare("a", "", { path: "../../outside/a.toml" });
    await field.untilLaunched(1, "box.a");
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

/** Runs a command where no more than so many watches are to be had. */
const limited = (watches: number): [string, ...string[]] => [
  "unshare",
  "-Ur",
  "sh",
  "-c",
  `echo ${watches} >/proc/sys/user/max_inotify_watches && exec "$@"`,
  "sh",
];
const unlimited = missingUnless([...limited(0), "true"], "it needs a user name space");

async function withWatches(watches: number): Promise<void> {
  const file = field.declare("a");
  const supervisor = await field.supervise(["--interval", "0.5"], {
    through: limited(watches),
  });
  const [run] = await field.untilLaunched(1);
  field.declare("b");
  await field.untilLaunched(1, "box.b");
  expect(isAlive(run!.pid)).toBe(true);
  appendFileSync(file, "retired = true\n");
  await until("the retired one to end", () => !isAlive(run!.pid));
  await until("a death not to be said", () => supervisor.of("retire").length === 1);
  expect(supervisor.child.exitCode).toBeNull();
  const warnings = supervisor.of("warning").map(({ message }) => message);
  expect(new Set(warnings).size).toBe(warnings.length);
  if (watches === 0) expect(warnings.length).toBeGreaterThan(0);
  expect(await supervisor.end()).toBe(0);
}

for (const watches of [0, 2])
  skippable(
    `WAT-02: with ${watches} watches to be had, the timer does the work`,
    unlimited,
    () => withWatches(watches),
    TEST_MS,
  );

test(
  "WAT-03: a file that is written slowly counts once, when it is whole",
  async () => {
    const file = field.declare("a");
    const supervisor = await field.supervise(NEVER);
    const runs = await field.untilLaunched(1);
    // Cut behind the third line it is valid, and shorter.
    const text = `${readFileSync(file, "utf8")}model = "long-name-of-a-model"\n`;
    for (let round = 0; round < 3; round += 1) {
      writeFileSync(file, "");
      await Bun.sleep(600);
      for (let at = 0; at < text.length; at += 10) {
        appendFileSync(file, text.slice(at, at + 10));
        await Bun.sleep(50);
      }
      await until("the whole file to count", async () => {
        const { stdout } = await field.convoy(["plan", field.network, "--json"]);
        return JSON.parse(stdout).problems.length === 0;
      });
      expect(field.launches()).toEqual(runs);
      expect(isAlive(runs[0]!.pid)).toBe(true);
    }
    writeFileSync(file, `identity = "a"\nrole = \n`);
    const said = () => problemsIn(supervisor.events).filter(({ line }) => line === 2);
    await until("a lasting error to be said", () => said().length > 0);
    expect(said()[0]).toMatchObject({ type: "catalog_error", path: join("box", "a", "agent.toml") });
    expect(dirname(file)).toEndWith("box/a");
    expect(field.launches()).toEqual(runs);
    expect(supervisor.of("retire")).toEqual([]);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

/** SUP-02: weak evidence of death neither starts a second copy nor removes what belongs to the living one. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { Field, isAlive, isRoot, type Launch, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  field.declare("a");
});
afterEach(() => field.remove());

const inRegistry = (name: string) => join(field.network, "pty", name);
const AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

async function startAgent(): Promise<Launch> {
  expect(await field.once()).toMatchObject({ code: 0 });
  return (await field.untilLaunched(1))[0]!;
}

/** What is said of the agent: that it runs, or that nobody can tell. */
async function expectNotDead(through: readonly string[] = []): Promise<void> {
  const plan = await field.convoy(["plan", field.network, "--json"], { through });
  expect(plan).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(plan.stdout)).toMatchObject({ launch: [], agents: [{ disposition: "adopt" }] });
  const list = await field.convoy(["ls", field.network, "--json"], { through });
  expect(list).toMatchObject({ code: 0, stderr: "" });
  expect(["running", "unknown"]).toContain(JSON.parse(list.stdout).agents[0].state);
}

/** Names in the registry but for what comes and goes. */
const names = () => readdirSync(inRegistry("")).filter((name) => !/\.(lock|tmp\..*)$/.test(name));

function expectSameRun(run: Launch, before: readonly string[]): void {
  expect(field.launches()).toEqual([run]);
  expect([isAlive(run.pid), isAlive(run.hostPid)]).toEqual([true, true]);
  expect(before.filter((name) => !names().includes(name))).toEqual([]);
}

test.each([
  ["the pid file is gone", () => rmSync(inRegistry("box.a.pid"))],
  ["the pid file is empty", () => writeFileSync(inRegistry("box.a.pid"), "")],
])(
  "%s",
  async (_what, damage) => {
    const run = await startAgent();
    damage();
    const before = names();
    expect(await field.once()).toMatchObject({ code: 0 });
    await expectNotDead();
    expectSameRun(run, before);
    await until(
      "the pid file to be put back",
      () => names().includes("box.a.pid") && readFileSync(inRegistry("box.a.pid"), "utf8").trim() !== "",
    );
  },
  TEST_MS,
);

test(
  "the socket is moved away and comes back",
  async () => {
    const run = await startAgent();
    renameSync(inRegistry("box.a.sock"), inRegistry("aside"));
    const before = names();
    expect(await field.once()).toMatchObject({ code: 0 });
    await expectNotDead();
    renameSync(inRegistry("aside"), inRegistry("box.a.sock"));
    expect(await field.once()).toMatchObject({ code: 0 });
    await expectNotDead();
    expectSameRun(
      run,
      before.filter((name) => name !== "aside"),
    );
  },
  TEST_MS,
);

test(
  "the record is three days old",
  async () => {
    const run = await startAgent();
    const threeDaysAgo = new Date(Date.now() - 3 * 86_400_000);
    const record = JSON.parse(readFileSync(inRegistry("box.a.json"), "utf8"));
    const aged = { ...record, createdAt: threeDaysAgo.toISOString() };
    writeFileSync(inRegistry("box.a.json"), `${JSON.stringify(aged, null, 2)}\n`);
    for (const name of names()) lutimesSync(inRegistry(name), threeDaysAgo, threeDaysAgo);
    const before = names();
    expect(await field.once()).toMatchObject({ code: 0 });
    await expectNotDead();
    expectSameRun(run, before);
  },
  TEST_MS,
);

skippable(
  "a user who may read the registry but not signal the host",
  isRoot() ? missingPrograms("setpriv") : "only root can become a second user",
  async () => {
    const run = await startAgent();
    for (const path of ["", ...readdirSync(field.root, { recursive: true, encoding: "utf8" })])
      if (!path.startsWith("bin/")) chmodSync(join(field.root, path), 0o777);
    const before = names();
    await expectNotDead(AS_NOBODY);
    const ran = await field.once({ through: AS_NOBODY });
    expect([0, 1]).toContain(ran.code);
    expectSameRun(run, before);
    await expectNotDead(AS_NOBODY);
    expectSameRun(run, before);
  },
  TEST_MS,
);

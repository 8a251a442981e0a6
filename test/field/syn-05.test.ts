/** SYN-05: names that differ only in case are a clash that names both files, the same on every machine. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Field, problemsIn, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

async function expectClash(paths: readonly string[], identity: string): Promise<void> {
  field.declare("bystander");
  const said: string[] = [];
  for (let pass = 0; pass < 2; pass += 1) {
    const ran = await field.once();
    expect(ran.code).toBe(1);
    said.push(JSON.stringify(problemsIn(ran.events).map(({ path, line, message }) => [path, line, message])));
  }
  expect(said[1]).toBe(said[0]!);
  for (const path of paths) expect(said[0]).toContain(path);
  await field.untilLaunched(1, "box.bystander");
  expect(field.launches().map(({ busId }) => busId)).toEqual(["box.bystander"]);
  const rows = await field.list();
  expect(rows.find((row) => row.identity.toLowerCase() === identity)?.state).toBe("conflict");
  const names = readdirSync(join(field.network, "pty")).map((name) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
}

test(
  "identities",
  async () => {
    field.declare("Worker", "", { path: "box/one/agent.toml" });
    field.declare("worker", "", { path: "box/two/agent.toml" });
    await expectClash(["box/one/agent.toml", "box/two/agent.toml"], "worker");
  },
  TEST_MS,
);

test(
  "folders named for hosts",
  async () => {
    field.declare("x", "", { host: "", path: "Box/x/agent.toml" });
    field.declare("x", "", { host: "", path: "box/x/agent.toml" });
    await expectClash(["Box/x/agent.toml", "box/x/agent.toml"], "x");
  },
  TEST_MS,
);

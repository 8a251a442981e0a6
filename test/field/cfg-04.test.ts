/** CFG-04: trust stands under the path that the agent finds itself in, and nothing else in the file is touched. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

test(
  "five spellings of a workspace beside 20 MB of odd keys",
  async () => {
    const history = Array.from({ length: 80_000 }, (_, i) => `"${i} ${"é".repeat(120)}"`).join(",");
    const odd = `"a.b c é":{"10":1,"2":12345678901234567890},"__proto__":{"x":1},"history":[${history}]`;
    const old = `"/with.dots and é":{"__proto__":1}`;
    field.put(field.claudeConfig, `{${odd},"projects":{${old}}}`);
    for (const name of ["real/x", "real/back", "real/ends in a space "])
      mkdirSync(join(field.root, name), { recursive: true });
    mkdirSync(join(field.home, "own"));
    symlinkSync("real", join(field.root, "link"));
    const spellings = ["real/x/", "real/back/../x", "link/x", "link/ends in a space "].map(
      (path) => `${field.root}/${path}`,
    );
    for (const [i, workspace] of [...spellings, "~/own"].entries())
      field.declare(`a${i}`, `workspace = ${JSON.stringify(workspace)}`);

    expect(await field.once()).toMatchObject({ code: 0, stderr: "" });
    const launches = await field.untilLaunched(5);
    const folders = [...new Set(launches.map(({ cwd }) => cwd))].sort();
    expect(folders).toEqual([
      join(field.home, "own"),
      join(field.root, "real/ends in a space "),
      join(field.root, "real/x"),
    ]);
    const text = readFileSync(field.claudeConfig, "utf8");
    const start = `{${odd},"projects":{${old},`;
    expect(text.startsWith(start)).toBe(true);
    const added = JSON.parse(`{${text.slice(start.length, -1)}`);
    expect(added).toEqual(
      Object.fromEntries(folders.map((folder) => [folder, { hasTrustDialogAccepted: true }])),
    );

    utimesSync(field.claudeConfig, 1_000, 1_000);
    expect((await field.once()).code).toBe(0);
    expect(readFileSync(field.claudeConfig, "utf8") === text).toBe(true);
    expect(statSync(field.claudeConfig).mtimeMs).toBe(1_000_000);
  },
  TEST_MS,
);

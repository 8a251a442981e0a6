/** BUN-02: settings for the runtime inside convoy neither change what convoy does nor reach an agent. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

test(
  "three agents are three hosts and three agents, and nothing of BUN_* reaches them",
  async () => {
    for (const name of ["a", "b", "c"]) field.declare(name);
    const ran = await field.once({ env: { BUN_OPTIONS: "--smol", BUN_CONFIG_MAX_HTTP_REQUESTS: "1" } });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    const runs = await field.untilLaunched(3);
    const expected = runs.flatMap(({ pid, hostPid }) => [pid, hostPid]).sort((a, b) => a - b);
    expect(
      field
        .living()
        .map(({ pid }) => pid)
        .sort((a, b) => a - b),
    ).toEqual(expected);
    for (const run of runs)
      expect(Object.keys(field.environmentOf(run)).filter((name) => name.startsWith("BUN_"))).toEqual([]);
  },
  TEST_MS,
);

test.each([
  [["-v"], 0],
  [["-h"], 0],
  [["-p", "1"], 2],
  [["-e", "1"], 2],
  [["run", "x.ts"], 2],
  [["--smol"], 2],
])(
  "the runtime does not answer %p",
  async (words, code) => {
    field.put("x.ts", `await Bun.write("${field.root}/ran", "");\n`);
    for (const env of [{}, { BUN_OPTIONS: "--smol" }]) {
      const ran = await field.convoy(words, { env });
      expect(ran.code).toBe(code);
      expect(`${ran.stdout}${ran.stderr}`).toContain("convoy");
    }
  },
  TEST_MS,
);

/** CFG-02: a config that does not parse is left byte for byte, and that is said; the agents start all the same. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { Field, sha256, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field({ unprivileged: true });
});
afterEach(() => field.remove());

const WHOLE = '{\n  "numStartups": 7,\n  "projects": {\n    "/old": { "x": 1 }\n  }\n}\n';

test.each([
  ["a trailing comma", WHOLE.replace("}\n}", "},\n}"), /comma|line \d|position/i],
  ["a block comment", WHOLE.replace("{\n", "{\n/* mine */\n"), /comment|line \d/i],
  ["cut off in the middle", WHOLE.slice(0, 40), /line \d|end/i],
  ["a list at the top", "[]\n", /object|list|array/i],
  ["projects is a list", '{"projects": []}\n', /projects/],
  ["unreadable", WHOLE, /permission|read/i],
])(
  "%s: untouched, and said",
  async (what, text, reason) => {
    field.put(field.claudeConfig, text);
    const before = sha256(field.claudeConfig);
    if (what === "unreadable") chmodSync(field.claudeConfig, 0o000);
    field.declare("a");

    const ran = await field.convoy(["up", field.network, "--once"]);

    chmodSync(field.claudeConfig, 0o600);
    expect(sha256(field.claudeConfig)).toBe(before);
    expect(ran.code).toBe(1);
    const said = `${ran.stdout}${ran.stderr}`.split("\n").filter((line) => line.includes(field.claudeConfig));
    expect(said).not.toEqual([]);
    expect(said.join("\n")).toMatch(reason);
    expect(said.join("\n")).toContain("may stop at the trust question");
    expect(await field.untilLaunched(1)).toHaveLength(1);
  },
  TEST_MS,
);

test(
  "zero bytes: nothing is lost by writing it anew",
  async () => {
    field.put(field.claudeConfig, "");
    field.declare("a");
    const ran = await field.once();
    const [agent] = await field.untilLaunched(1);
    const after = readFileSync(field.claudeConfig, "utf8");
    if (after === "") expect(ran.code).toBe(1);
    else expect(JSON.parse(after)).toEqual({ projects: { [agent!.cwd]: { hasTrustDialogAccepted: true } } });
  },
  TEST_MS,
);

test(
  "a byte order mark: every key is kept, or the file refused untouched",
  async () => {
    field.put(field.claudeConfig, `\u{feff}${WHOLE}`);
    const before = sha256(field.claudeConfig);
    field.declare("a");
    const ran = await field.once();
    const [agent] = await field.untilLaunched(1);
    if (sha256(field.claudeConfig) === before) {
      expect(ran.code).toBe(1);
      return;
    }
    const after = JSON.parse(readFileSync(field.claudeConfig, "utf8").replace(/^\u{feff}/u, ""));
    expect(after).toEqual({
      numStartups: 7,
      projects: { "/old": { x: 1 }, [agent!.cwd]: { hasTrustDialogAccepted: true } },
    });
  },
  TEST_MS,
);

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHome, type Home } from "./binary.ts";
import { snapshot } from "./kit.ts";

let home: Home;
let claude: string;
beforeEach(() => {
  home = createHome();
  claude = join(home.path, ".claude.json");
  for (const folder of [".claude", ".codex", "a", "b"]) mkdirSync(join(home.path, folder));
  symlinkSync("a", join(home.path, "link"));
});
afterEach(() => home.remove());

const pretrust = (...words: string[]) => home.convoy(["pretrust", ...words], { env: { PATH: "/nowhere" } });
const trusted = (file: string) => Object.keys(JSON.parse(readFileSync(file, "utf8")).projects);

test("real paths of every folder, once, in one write", async () => {
  const a = join(home.path, "a");
  const b = join(home.path, "b");
  expect(await pretrust("link", "a", "./b")).toEqual({
    code: 0,
    stdout: `${claude}: 2 added\n  ${a}\n  ${b}\n`,
    stderr: "",
  });
  expect(trusted(claude)).toEqual([a, b]);
  const before = snapshot(home.path);
  expect(await pretrust("link")).toEqual({ code: 0, stdout: `${claude}: nothing to add\n`, stderr: "" });
  expect(snapshot(home.path)).toEqual(before);
});

test("--json, --harness and --config-dir", async () => {
  mkdirSync(join(home.path, "cfg"));
  const config = join(home.path, "cfg/config.toml");
  const a = join(home.path, "a");
  const { code, stdout, stderr } = await pretrust("a", "--harness", "codex", "--config-dir", "cfg", "--json");
  const file = { path: config, written: true, added: [a], refused: [], problem: null, note: null };
  const document = { harness: "codex", files: [file], missing: [], unresolved: [] };
  expect([code, JSON.parse(stdout), stderr]).toEqual([0, document, ""]);
  expect(readFileSync(config, "utf8")).toBe(`[projects."${a}"]\ntrust_level = "trusted"\n`);
  await pretrust("b", "--config-dir", "cfg");
  expect(trusted(join(home.path, "cfg/.claude.json"))).toEqual([join(home.path, "b")]);
  expect([existsSync(claude), existsSync(join(home.path, ".codex/config.toml"))]).toEqual([false, false]);
});

test("the config's lock is held for a rename, not for the writing of a file", async () => {
  const log = join(home.path, "effects");
  const env = { PATH: "/nowhere", CONVOY_TEST_EFFECTS: log };
  expect((await home.convoy(["pretrust", "a"], { env })).code).toBe(0);
  const effects = readFileSync(log, "utf8").trim().split("\n");
  expect(effects.map((line) => line.split(" ")[0])).toEqual([
    "temporary-write",
    "config-lock-take",
    "trust-write",
    "config-lock-release",
  ]);
});

test("a folder that is not there is an error, and the others go on", async () => {
  writeFileSync(join(home.path, "file"), "");
  expect(await pretrust("nope", "file", "a")).toEqual({
    code: 1,
    stdout: `${claude}: 1 added\n  ${home.path}/a\n`,
    stderr: `convoy: ${home.path}/nope does not exist: it was not trusted\nconvoy: ${home.path}/file is not a folder\n`,
  });
  expect(trusted(claude)).toEqual([join(home.path, "a")]);
});

test("what does not parse stays as it is, and fails", async () => {
  writeFileSync(claude, "{ not json");
  const { code, stdout, stderr } = await pretrust("a");
  expect([code, stdout, stderr]).toEqual([
    1,
    "",
    expect.stringMatching(/^convoy: trust not written: .*\.claude\.json.*\n$/),
  ]);
  expect(readFileSync(claude, "utf8")).toBe("{ not json");
});

test("a level that the user chose is left alone, and said", async () => {
  const config = join(home.path, ".codex/config.toml");
  const text = `[projects."${home.path}/a"]\ntrust_level = "untrusted"\n`;
  writeFileSync(config, text);
  expect(await pretrust("a", "--harness", "codex")).toEqual({
    code: 0,
    stdout: "",
    stderr: `warning: ${config} says otherwise about ${home.path}/a: left as it is, change trust_level there\n`,
  });
  expect(readFileSync(config, "utf8")).toBe(text);
});

test("harnesses without a question, and wrong usage", async () => {
  expect(await pretrust("a", "--harness", "pi")).toEqual({
    code: 0,
    stdout: "",
    stderr: "pi asks for no trust: nothing to write.\n",
  });
  expect(await pretrust()).toEqual({
    code: 2,
    stdout: "",
    stderr: "convoy: pretrust: <dir> is missing\n  next: convoy pretrust --help\n",
  });
  expect((await pretrust("a", "--harness", "clod")).code).toBe(2);
});

/** CFG-06: in codex's config a path has one entry, however it is spelled, and an entry that says no stays. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync } from "node:fs";
import { parse } from "smol-toml";
import { parseTOML } from "toml-eslint-parser";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const level = (name: string) => ({ trust_level: name });

/** Two strict readers of TOML must accept it, and Python's where there is one; the first one's answer counts. */
function readStrictly(text: string): Record<string, unknown> {
  parseTOML(text);
  if (Bun.which("python3") === null) console.log("skipped: Python's reader of TOML, there is no python3");
  else {
    const script = "import sys, tomllib; tomllib.loads(sys.stdin.read())";
    const read = Bun.spawnSync(["python3", "-c", script], { stdin: Buffer.from(text) });
    expect([read.exitCode, read.stderr.toString()]).toEqual([0, ""]);
  }
  return parse(text);
}

async function upTwice(): Promise<{ first: Awaited<ReturnType<Field["once"]>>; text: string }> {
  const first = await field.once();
  const text = readFileSync(field.codexConfig, "utf8");
  utimesSync(field.codexConfig, 1_000, 1_000);
  await field.once();
  expect(readFileSync(field.codexConfig, "utf8")).toBe(text);
  expect(statSync(field.codexConfig).mtimeMs).toBe(1_000_000);
  return { first, text };
}

test(
  "single quotes, double quotes, a dotted key, and an entry inside a string",
  async () => {
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => `${field.network}/worktrees/${name}`);
    const string = `notes = """\n[projects."${d}"]\ntrust_level = "trusted"\n"""\n`;
    const before = `projects."${c}".trust_level = "trusted"
${string}
[projects.'${a}'] # mine
trust_level = 'trusted'

[projects."${b}"]
trust_level = "untrusted"
`;
    field.put(field.codexConfig, before);
    for (const name of ["a", "b", "c", "d"]) field.declare(name, 'harness = "codex"');

    const { first, text } = await upTwice();

    const old = before.split("\n");
    expect(text.split("\n").filter((line) => line !== "" && !old.includes(line))).toSatisfy(
      (added: string[]) =>
        added.length > 0 && added.every((line) => line.includes(d!) || /^trust_level/.test(line)),
    );
    expect(text).toContain(string);
    expect(readStrictly(text).projects).toEqual({
      [a!]: level("trusted"),
      [b!]: level("untrusted"),
      [c!]: level("trusted"),
      [d!]: level("trusted"),
    });
    const said = first.events.filter(({ type }) => type === "pretrust");
    expect(said).toMatchObject([
      { files: [{ path: field.codexConfig, added: [d], refused: [b], problem: null }] },
    ]);
    expect((await field.convoy(["up", field.network, "--once"])).stdout).toContain(
      `says otherwise about ${b}`,
    );
    const launches = await field.untilLaunched(4);
    expect(launches.map(({ cwd }) => cwd).sort()).toEqual([a!, b!, c!, d!]);
    for (const launch of launches) expect(field.configSeenBy(launch)).toBe(text);
  },
  TEST_MS,
);

test(
  "an inline table of projects",
  async () => {
    const [a, b] = ["a", "b"].map((name) => `${field.network}/worktrees/${name}`);
    field.put(
      field.codexConfig,
      `projects = { '${a}' = { trust_level = "trusted" } } # mine\n[other]\nx = 1\n`,
    );
    for (const name of ["a", "b"]) field.declare(name, 'harness = "codex"');
    const { text } = await upTwice();
    expect(readStrictly(text)).toEqual({
      projects: { [a!]: level("trusted"), [b!]: level("trusted") },
      other: { x: 1 },
    });
    expect(text).toEndWith(" # mine\n[other]\nx = 1\n");
  },
  TEST_MS,
);

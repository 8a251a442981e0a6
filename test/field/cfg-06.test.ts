/** CFG-06: in codex's config a path has one entry, however it is spelled, and an entry that says no stays. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync } from "node:fs";
import { parse } from "smol-toml";
import { parseTOML } from "toml-eslint-parser";
import { missingUnless, skippable } from "../support/skippable.ts";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const level = (name: string) => ({ trust_level: name });

/** Two strict readers of TOML must accept it; the first one's answer counts. */
function readStrictly(text: string): Record<string, unknown> {
  parseTOML(text);
  return parse(text);
}

function expectPythonReads(text: string): void {
  const script = "import sys, tomllib; tomllib.loads(sys.stdin.read())";
  const read = Bun.spawnSync(["python3", "-c", script], { stdin: Buffer.from(text) });
  expect([read.exitCode, read.stderr.toString()]).toEqual([0, ""]);
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

/** Each resolves to the text that is left in the end. */
const SPELLINGS: Readonly<Record<string, () => Promise<string>>> = {
  async "single quotes, double quotes, a dotted key, and an entry inside a string"() {
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
    return text;
  },
  async "an inline table of projects"() {
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
    return text;
  },
};

const noTomllib = missingUnless(["python3", "-c", "import tomllib"], "there is no Python that reads TOML");
for (const [what, edit] of Object.entries(SPELLINGS)) {
  test(what, async () => void (await edit()), TEST_MS);
  skippable(
    `${what}: Python's reader takes it too`,
    noTomllib,
    async () => expectPythonReads(await edit()),
    TEST_MS,
  );
}

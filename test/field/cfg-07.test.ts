/** CFG-07: codex's config keeps comments, layout, line endings and its link. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field({ unprivileged: true });
});
afterEach(() => field.remove());

const MINE = '# mine\r\nz = [\r\n  1, # one\r\n]\r\n\r\n[unknown.table] # odd\r\na = """\r\n"""\r\n';

function putLinked(): string {
  const target = field.put("dotfiles/config.toml", MINE);
  mkdirSync(dirname(field.codexConfig));
  symlinkSync("../../dotfiles/config.toml", field.codexConfig);
  return target;
}

test(
  "only the new table is added",
  async () => {
    const target = putLinked();
    field.declare("a", 'harness = "codex"');
    expect((await field.once()).code).toBe(0);
    const [run] = await field.untilLaunched(1);
    const added = `\r\n[projects."${run!.cwd}"]\r\ntrust_level = "trusted"\r\n`;
    expect(readFileSync(target, "utf8")).toBe(MINE + added);
    expect(lstatSync(field.codexConfig).isSymbolicLink()).toBe(true);
  },
  TEST_MS,
);

test(
  "a read-only target is named, and nothing is left beside it",
  async () => {
    const target = putLinked();
    chmodSync(target, 0o444);
    field.declare("a", 'harness = "codex"');
    const ran = await field.convoy(["up", field.network, "--once"]);
    expect(ran.code).toBe(1);
    expect(`${ran.stdout}${ran.stderr}`).toMatch(/config\.toml.*read-only/);
    expect(readFileSync(target, "utf8")).toBe(MINE);
    expect(readdirSync(dirname(target))).toEqual(["config.toml"]);
    expect(readdirSync(dirname(field.codexConfig))).toEqual(["config.toml"]);
    expect(readdirSync(join(field.root, "dotfiles"))).toEqual(["config.toml"]);
    await field.untilLaunched(1);
  },
  TEST_MS,
);

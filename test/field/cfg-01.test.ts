/** CFG-01: a linked config file stays a link, and what it leads to gets the trust. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const OLD = { numStartups: 7, projects: { "/old": { history: ["a"] } }, "odd key.é": { x: [1, null] } };

test.each([
  ["an absolute link", (root: string) => `${root}/dotfiles/claude.json`, true],
  ["a relative link", () => "../dotfiles/claude.json", true],
  ["a dangling link", () => "../dotfiles/claude.json", false],
] as const)(
  "%s",
  async (_what, leadsTo, exists) => {
    const target = join(field.root, "dotfiles/claude.json");
    mkdirSync(join(field.root, "dotfiles"));
    if (exists) field.put(target, JSON.stringify(OLD, null, 2));
    symlinkSync(leadsTo(field.root), field.claudeConfig);
    field.declare("a");

    expect(await field.once()).toMatchObject({ code: 0, stderr: "" });

    expect(lstatSync(field.claudeConfig).isSymbolicLink()).toBe(true);
    expect(readlinkSync(field.claudeConfig)).toBe(leadsTo(field.root));
    const [agent] = await field.untilLaunched(1);
    const trusted = { [agent!.cwd]: { hasTrustDialogAccepted: true } };
    const old = exists ? OLD : { projects: {} };
    const expected = { ...old, projects: { ...old.projects, ...trusted } };
    expect(JSON.parse(readFileSync(target, "utf8"))).toEqual(expected);
    expect(JSON.parse(field.configSeenBy(agent!))).toEqual(expected);
    expect(readdirSync(join(field.root, "dotfiles"))).toEqual(["claude.json"]);
    expect(readdirSync(field.home)).toEqual([".claude.json"]);
  },
  TEST_MS,
);

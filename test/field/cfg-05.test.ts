/** CFG-05: a linked worktree is trusted, with its main checkout, whose permission rules count; nothing is written there. */
import { afterEach, beforeEach, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { Field, snapshot, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

skippable(
  "an agent in a linked worktree",
  missingPrograms("git"),
  async () => {
    const main = join(field.root, "main");
    const tree = join(field.root, "tree");
    field.put("main/.claude/settings.json", '{"permissions":{"allow":["Bash(ls)"]}}\n');
    const who = ["-c", "user.name=n", "-c", "user.email=n@example.com"];
    for (const words of [
      ["init", "-q"],
      ["add", "."],
      [...who, "commit", "-qm", "x"],
      ["worktree", "add", "-q", tree],
    ]) {
      const git = Bun.spawnSync(["git", "-C", main, ...words], { env: field.environment() });
      expect([words, git.exitCode, git.stderr.toString()]).toEqual([words, 0, ""]);
    }
    field.declare("a", `workspace = "${tree}"`);
    const before = [snapshot(main), snapshot(tree)];
    expect(await field.once()).toMatchObject({ code: 0, stderr: "" });
    const [run] = await field.untilLaunched(1);
    expect(run!.cwd).toBe(tree);
    expect([snapshot(main), snapshot(tree)]).toEqual(before);
    const trusted = { hasTrustDialogAccepted: true };
    expect(JSON.parse(readFileSync(field.claudeConfig, "utf8")).projects).toEqual({
      [tree]: trusted,
      [main]: trusted,
    });
  },
  TEST_MS,
);

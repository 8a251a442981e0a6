import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { trustAccess } from "./trust-access.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync("/tmp/cv-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe("readRealPath", () => {
  test.each([
    ["a folder", "a/b", "a/b", true],
    ["a trailing slash", "a/b/", "a/b", true],
    ["a step back", "a/b/../b", "a/b", true],
    ["a linked folder", "link", "a/b", true],
    ["a linked parent", "up/b", "a/b", true],
    ["a step back out of a link", "link/../b", "a/b", true],
    ["a name that ends in a space", "a/b /", "a/b ", true],
    ["one that is not there yet", "up/b/new/one", "a/b/new/one", false],
  ])("%s", (_what, path, real, exists) => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    mkdirSync(join(root, "a/b "));
    symlinkSync("a/b", join(root, "link"));
    symlinkSync("a", join(root, "up"));
    expect(trustAccess.readRealPath(`${root}/${path}`)).toEqual({ path: join(root, real), exists });
  });

  test.each([
    ["a file", "f", "f is not a folder"],
    ["a link to nothing", "dangling", "dangling is a link to nothing"],
    ["below a link to nothing", "dangling/x", "dangling is a link to nothing"],
    ["below a file", "f/x", "ENOTDIR"],
  ])("names no path for %s", (_what, path, problem) => {
    put("f", "");
    symlinkSync("nowhere", join(root, "dangling"));
    expect(trustAccess.readRealPath(join(root, path))).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("wants an absolute path", () => {
    expect(trustAccess.readRealPath("a")).toEqual({ problem: "a is not an absolute path" });
  });
});

describe("readMainCheckout", () => {
  /** What `git worktree add ../tree` leaves behind in the repository `main`. */
  function makeWorktree(gitFolder = "main/.git"): void {
    put(`${gitFolder}/worktrees/tree/commondir`, "../..\n");
    put(`${gitFolder}/worktrees/tree/gitdir`, `${root}/tree/.git\n`);
    put("tree/.git", `gitdir: ${root}/${gitFolder}/worktrees/tree\n`);
    mkdirSync(join(root, "tree/sub/deep"), { recursive: true });
  }

  test("of a linked worktree, and of any folder in it", () => {
    makeWorktree();
    expect(trustAccess.readMainCheckout(join(root, "tree"))).toBe(join(root, "main"));
    expect(trustAccess.readMainCheckout(join(root, "tree/sub/deep"))).toBe(join(root, "main"));
    expect(trustAccess.readMainCheckout(join(root, "tree/not/yet"))).toBe(join(root, "main"));
  });

  test("with relative paths", () => {
    makeWorktree();
    put("main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    put("tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
    expect(trustAccess.readMainCheckout(join(root, "tree"))).toBe(join(root, "main"));
  });

  test("is the repository itself where that is bare", () => {
    makeWorktree("bare.git");
    expect(trustAccess.readMainCheckout(join(root, "tree"))).toBe(join(root, "bare.git"));
  });

  test("is none in a repository inside a worktree, in a submodule, and outside", () => {
    makeWorktree();
    mkdirSync(join(root, "tree/sub/.git"));
    expect(trustAccess.readMainCheckout(join(root, "tree/sub/deep"))).toBeNull();
    put("main/.git/modules/m/HEAD", "");
    put("main/m/.git", "gitdir: ../.git/modules/m\n");
    expect(trustAccess.readMainCheckout(join(root, "main/m"))).toBeNull();
    expect(trustAccess.readMainCheckout(root)).toBeNull();
  });

  test("is none that does not name the worktree in turn", () => {
    makeWorktree();
    put("other/.git", `gitdir: ${root}/main/.git/worktrees/tree\n`);
    expect(trustAccess.readMainCheckout(join(root, "other"))).toBeNull();
    put("forged/.git/commondir", `${root}/main/.git\n`);
    put("forged/.git/gitdir", `${root}/liar/.git\n`);
    put("liar/.git", `gitdir: ${root}/forged/.git\n`);
    expect(trustAccess.readMainCheckout(join(root, "liar"))).toBeNull();
  });
});

test("readIsOnPath finds executable files only", () => {
  put("bin/claude", "#!/bin/sh\n");
  chmodSync(join(root, "bin/claude"), 0o755);
  put("bin/codex", "");
  mkdirSync(join(root, "more/claude"), { recursive: true });
  expect(trustAccess.readIsOnPath("claude", `/nowhere:${root}/more:${root}/bin`)).toBe(true);
  expect(trustAccess.readIsOnPath("claude", `${root}/more`)).toBe(false);
  expect(trustAccess.readIsOnPath("codex", `${root}/bin`)).toBe(false);
  expect(trustAccess.readIsOnPath("claude", "")).toBe(false);
});

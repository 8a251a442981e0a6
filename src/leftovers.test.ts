import { expect, test } from "bun:test";
import { classifyFileName, extensionOf, isConflictFolder, type NameKind } from "./leftovers.ts";

const CASES: readonly (readonly [string, NameKind, (readonly string[])?])[] = [
  ["agent.toml", "declaration"],
  ["agent.kdl", "declaration"],
  ["agent.json", "declaration"],
  ["conflict-resolver.toml", "declaration"],
  ["merge-conflict.toml", "declaration"],
  ["worker (night shift).toml", "declaration"],
  ["agent_local.toml", "declaration"],
  ["notes.md", "other"],
  ["agent", "other"],
  ["agent.TOML", "other"],
  ["agent.sync-conflict-20261130-101010-ABCDEFG.toml", "conflict-copy"],
  ["agent.sync-conflict-20261130-101010.json", "conflict-copy"],
  ["agent (box's conflicted copy 2026-11-30).toml", "conflict-copy"],
  ["agent (conflicted copy 2026-11-30 101010).kdl", "conflict-copy"],
  ["agent (Conflict).toml", "conflict-copy"],
  ["agent (SFConflict me@example.com 2026-11-30-10-10-10).toml", "conflict-copy"],
  ["agent_conflict-20261130-101010.toml", "conflict-copy"],
  ["agent_box_Nov-30-101010-2026_Conflict.toml", "conflict-copy"],
  ["agent.Conflict.toml", "conflict-copy"],
  ["agent (1).toml", "conflict-copy", ["agent.toml"]],
  ["agent(1).toml", "conflict-copy", ["agent.toml"]],
  ["agent (1).toml", "declaration", ["agent.kdl"]],
  ["agent 2.toml", "conflict-copy", ["agent.toml"]],
  ["agent 2.toml", "declaration"],
  ["agent-DESKTOP-AB12CD3.toml", "conflict-copy", ["agent.toml"]],
  ["agent-box.toml", "declaration", ["agent.toml"]],
  ["agent.toml~", "other"],
  ["agent.toml.orig", "other"],
  ["agent.toml.rej", "other"],
  ["agent.toml.bak", "other"],
  ["agent.toml.swp", "other"],
  ["agent.toml.tmp", "other"],
  ["agent.toml.part", "other"],
  [".agent.toml.swp", "leftover"],
  [".#agent.toml", "leftover"],
  [".agent.toml.Ab3dEf", "leftover"],
  [".syncthing.agent.toml.tmp", "leftover"],
  ["~syncthing~agent.toml.tmp", "leftover"],
  ["~$agent.toml", "leftover"],
  ["#agent.toml#", "leftover"],
  ["agent_BASE_4711.toml", "leftover"],
  ["agent_REMOTE_4711.json", "leftover"],
  ["agent.toml.LOCAL.4711.toml", "leftover"],
  ["agent~base.toml", "leftover"],
  ["agent~.toml", "leftover"],
  ["agent.bak.toml", "leftover", ["agent.toml"]],
  ["agent.bak.toml", "declaration"],
];

test.each(CASES)("%s is a %s (beside %p)", (name, kind, siblings = []) => {
  expect(classifyFileName(name, new Set([name, ...siblings]))).toBe(kind);
});

test("a folder can be a conflict copy", () => {
  const names = [
    "fabric",
    "fabric (box's conflicted copy 2026-11-30)",
    "fabric.sync-conflict-20261130-101010-ABCDEFG",
  ];
  expect(names.map(isConflictFolder)).toEqual([false, true, true]);
});

test("the extension is what follows the last dot of a name", () => {
  expect([".toml", "a.toml", "a.b.kdl", "a.json5", "toml"].map(extensionOf)).toEqual([
    null,
    "toml",
    "kdl",
    null,
    null,
  ]);
});

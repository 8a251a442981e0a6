/** Kills right after each effect of a first start: of convoy itself, and of the session hosts that it starts. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CrashNet, crashEverywhere } from "./crash-kit.ts";
import { DEADLINE_MS } from "./kit.ts";

setDefaultTimeout(10 * DEADLINE_MS);

const SESSIONS = ["box.a", "box.a.ding", "box.b", "box.b.helper", "box.c"];

/** One with a sidecar, one with two tasks of its own, one harness alone; two of them with trust to write. */
function declareThree(net: CrashNet): void {
  net.declare("a", { command: null, lines: ['transport = "ding"'] });
  net.declare("b", { tables: ["[pty.helper]", 'command = "exec agent"'] });
  net.declare("c", { command: null, lines: ['transport = "mcp"'] });
  writeFileSync(join(net.home, ".claude.json"), '{\n  "projects": {}\n}\n');
}

const declareOne = (net: CrashNet) => void net.declare("a");

test("convoy killed in a first start", async () => {
  const done = await crashEverywhere({
    thorough: true,
    prepare: declareThree,
    act: (net, variables) => net.convoy(["up", "--once"], variables),
    expected: () => SESSIONS,
    verify: (net) => (net.trusted().length === 3 ? null : { trusted: net.trusted() }),
  });
  expect(done).toEqual({
    effects: [
      "config-lock-release",
      "config-lock-take",
      "event-write",
      "folder-create",
      "holder-write",
      "host-spawn",
      "ledger-write",
      "lifeline-create",
      "lock-database",
      "lock-release",
      "lock-take",
      "name-write",
      "record-write",
      "temporary-remove",
      "temporary-write",
      "trust-write",
      "workspace-create",
    ],
    wrong: [],
  });
});

test("convoy killed while it renders", async () => {
  const exclude = (net: CrashNet) => join(net.root, "worktrees/a/.git/info/exclude");
  const done = await crashEverywhere({
    only: ["exclude-write", "folder-create", "render-write"],
    prepare(net) {
      for (const folder of ["objects", "refs"])
        mkdirSync(join(net.root, "worktrees/a/.git", folder), { recursive: true });
      writeFileSync(join(net.root, "worktrees/a/.git/HEAD"), "ref: refs/heads/main\n");
      const tables = ["[[render.dir]]", 'dest = "."', 'from = "files"'];
      const declared = net.declare("a", { tables });
      mkdirSync(join(declared, "../files/deep"), { recursive: true });
      for (const name of ["x", "deep/y"]) writeFileSync(join(declared, "../files", name), name);
    },
    act: (net, variables) => net.convoy(["up", "--once"], variables),
    expected: () => ["box.a"],
    verify(net) {
      const lines = readFileSync(exclude(net), "utf8");
      const files = ["x", "deep/y"].map((name) => readFileSync(join(net.root, "worktrees/a", name), "utf8"));
      const good = lines === "# Rendered by convoy\n/deep/y\n/x\n" && files.join() === "x,deep/y";
      return good ? null : { lines, files };
    },
  });
  expect(done).toEqual({ effects: ["exclude-write", "folder-create", "render-write"], wrong: [] });
});

const HOST_EFFECTS = [
  "agent-spawn",
  "event-write",
  "ledger-write",
  "lock-release",
  "lock-take",
  "pid-write",
  "record-write",
  "socket-bind",
  "socket-remove",
  "temporary-remove",
  "temporary-write",
];

test("session hosts killed in a first start, all of them", async () => {
  const done = await crashEverywhere({
    hosts: true,
    prepare: declareThree,
    act: async (net, variables) => await net.convoy(["up", "--once"], variables),
    expected: () => SESSIONS,
  });
  expect(done).toEqual({ effects: HOST_EFFECTS, wrong: [] });
});

test("session hosts killed in a first start, of an agent that does not heed the closing of its terminal", async () => {
  const done = await crashEverywhere({
    hosts: true,
    thorough: true,
    prepare(net) {
      declareOne(net);
      mkdirSync(join(net.home, "deaf"));
    },
    act: (net, variables) => net.convoy(["up", "--once"], variables),
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: HOST_EFFECTS, wrong: [] });
});

import { describe, expect, test } from "bun:test";
import type { Declaration, Task } from "./declaration.ts";
import { commandHash } from "./flapping-cap.ts";
import { compileSessions, type LaunchContext, mergeTags, sessionNames, workspaceOf } from "./launch-spec.ts";
import type { SessionSpec } from "./ledger.ts";

const CONTEXT: LaunchContext = { network: "/n", host: "box", home: "/home/me" };

function declare(members: Partial<Declaration> = {}): Declaration {
  return {
    identity: "fabric",
    role: "worker",
    supervisor: null,
    host: null,
    workspace: null,
    harness: "claude",
    bin: null,
    model: null,
    transport: "mcp",
    persona: null,
    strategy: "permanent",
    retired: false,
    prefix: null,
    env: {},
    render: { file: [], dir: [] },
    tasks: [],
    ...members,
  };
}

function task(name: string, members: Partial<Task> = {}): Task {
  return { name, command: `run ${name}`, id: null, cwd: null, tags: {}, env: {}, keep: null, ...members };
}

function wiring(name: string) {
  return {
    ST_ROOT: "/n/smalltalk",
    PTY_ROOT: "/n/pty",
    PTY_SESSION_DIR: "/n/pty",
    PTY_ROOT_LEGACY_SILENT: "1",
    CONVOY_NETWORK: "/n",
    ST_AGENT: "box.fabric",
    PTY_SESSION: name,
  };
}

const PROMPT = "You were started by convoy as box.fabric. Read your inbox and carry on.";

function only(specs: readonly SessionSpec[]): SessionSpec {
  expect(specs.length).toBe(1);
  return specs[0] as SessionSpec;
}

describe("derived sessions", () => {
  test("the harness, whole", () => {
    const line = `claude --permission-mode bypassPermissions '${PROMPT}'`;
    expect(compileSessions(declare({ env: { A: "1", ST_ROOT: "/elsewhere" } }), CONTEXT)).toEqual([
      {
        name: "box.fabric",
        agent: "box.fabric",
        identity: "fabric",
        task: "agent",
        main: true,
        command: "sh",
        args: ["-c", `exec ${line}`],
        displayCommand: line,
        cwd: "/n/worktrees/fabric",
        env: { A: "1", ...wiring("box.fabric") },
        tags: {
          strategy: "permanent",
          role: "agent",
          "st.network": "/n",
          "convoy.agent": "box.fabric",
        },
        binary: "claude",
      },
    ]);
  });

  test("the sidecar, whole", () => {
    const args = ["ding", "box.fabric", "--identity", "box.fabric", "--root", "/n/smalltalk"];
    expect(compileSessions(declare({ transport: "ding", env: { A: "1" } }), CONTEXT)[1]).toEqual({
      name: "box.fabric.ding",
      agent: "box.fabric",
      identity: "fabric",
      task: "ding",
      main: false,
      command: "st",
      args,
      displayCommand: `st ${args.join(" ")}`,
      cwd: "/n/worktrees/fabric",
      env: { A: "1", ...wiring("box.fabric.ding") },
      tags: {
        strategy: "permanent",
        role: "ding",
        "st.network": "/n",
        "convoy.agent": "box.fabric",
        "convoy.task": "ding",
      },
      binary: "st",
    });
  });

  test.each([
    ["claude", "mcp", ["box.fabric"]],
    ["claude", "ding", ["box.fabric", "box.fabric.ding"]],
    ["codex", "mcp", ["box.fabric", "box.fabric.ding"]],
    ["opencode", "mcp", ["box.fabric", "box.fabric.ding"]],
    ["pi", "ding", ["box.fabric", "box.fabric.ding"]],
  ] as const)("%s over %s: %p", (harness, transport, names) => {
    expect(sessionNames(declare({ harness, transport }), CONTEXT)).toEqual([...names]);
  });

  test("binary, model and persona; a quote in the persona, no line break", () => {
    const spec = only(
      compileSessions(declare({ bin: "/opt/c", model: "m/1", persona: "docs/it's\nme.md" }), CONTEXT),
    );
    expect(spec.args[1]).toBe(
      `exec /opt/c --permission-mode bypassPermissions --model m/1 '${PROMPT} ` +
        "Your role is described in docs/it'\\''s me.md.'",
    );
    expect(spec.binary).toBe("/opt/c");
  });

  test("batch has no strategy tag, a supervisor is the spawner", () => {
    const batch = declare({ strategy: "batch", supervisor: "chief" });
    const tags = { role: "agent", "st.network": "/n", "convoy.agent": "box.fabric" };
    expect(only(compileSessions(batch, CONTEXT)).tags).toEqual({ ...tags, "convoy.spawner": "box.chief" });
    const elsewhere = { ...CONTEXT, hostOf: () => "far" };
    expect(only(compileSessions(batch, elsewhere)).tags).toEqual({ ...tags, "convoy.spawner": "far.chief" });
  });

  test("a prefix stands in the session id, not in the bus id", () => {
    const spec = only(compileSessions(declare({ prefix: "p", host: "other" }), CONTEXT));
    expect([spec.name, spec.agent]).toEqual(["p.fabric", "other.fabric"]);
    expect(sessionNames(declare({ host: "other" }), CONTEXT)).toEqual(["other.fabric"]);
  });
});

describe("explicit tasks", () => {
  test("replace everything derived, the sidecar too; the command line is as it stands", () => {
    const declaration = declare({
      transport: "ding",
      env: { A: "agent", B: "agent" },
      tasks: [
        task("agent", { command: "a && b", env: { B: "task", PTY_SESSION: "x" }, tags: { mine: "1" } }),
      ],
    });
    expect(compileSessions(declaration, CONTEXT)).toEqual([
      {
        name: "box.fabric",
        agent: "box.fabric",
        identity: "fabric",
        task: "agent",
        main: true,
        command: "sh",
        args: ["-c", "a && b"],
        displayCommand: "a && b",
        cwd: "/n/worktrees/fabric",
        env: { A: "agent", B: "task", ...wiring("box.fabric") },
        tags: {
          mine: "1",
          strategy: "permanent",
          role: "agent",
          "st.network": "/n",
          "convoy.agent": "box.fabric",
        },
        binary: null,
      },
    ]);
  });

  test.each([
    ["the one tagged", [task("x"), task("agent"), task("y", { tags: { role: "agent" } })], "y"],
    ["else the one named agent", [task("x"), task("agent")], "agent"],
    ["else the first", [task("x"), task("b")], "x"],
  ])("main: %s, and it comes first", (_title, tasks, main) => {
    const specs = compileSessions(declare({ tasks }), CONTEXT);
    expect(specs.filter((spec) => spec.main).map((spec) => spec.task)).toEqual([main]);
    expect(specs.map((spec) => [spec.name, spec.tags.role, spec.tags["convoy.task"]])).toEqual([
      ["box.fabric", "agent", undefined],
      ...tasks
        .filter((other) => other.name !== main)
        .map((other) => [`box.fabric.${other.name}`, undefined, other.name]),
    ] as (string | undefined)[][]);
  });

  test("an id of one's own, for the main task and another", () => {
    const tasks = [task("agent", { id: "solo" }), task("web", { id: "w_1" }), task("db")];
    expect(sessionNames(declare({ tasks }), CONTEXT)).toEqual(["solo", "w_1", "box.fabric.db"]);
  });

  test("keep is a tag; what a launch decides cannot be declared as one", () => {
    const tags = {
      "strategy.status": "flapping",
      "strategy.fast-fail-limit": "9",
      strategy: "x",
      "convoy.task": "x",
      ptyfile: "x",
    };
    const spec = only(
      compileSessions(declare({ strategy: "batch", tasks: [task("agent", { tags, keep: true })] }), CONTEXT),
    );
    expect(spec.tags).toEqual({
      "strategy.fast-fail-limit": "9",
      keep: "true",
      role: "agent",
      "st.network": "/n",
      "convoy.agent": "box.fabric",
    });
  });

  test.each([
    [null, "/home/me/w"],
    ["sub/../x", "/home/me/w/x"],
    ["~/y", "/home/me/y"],
    ["/abs/", "/abs"],
  ])("cwd %p is %s", (cwd, expected) => {
    const declaration = declare({ workspace: "~/w", tasks: [task("agent", { cwd })] });
    expect(only(compileSessions(declaration, CONTEXT)).cwd).toBe(expected);
  });
});

test.each([
  [null, "/n/worktrees/fabric"],
  ["shared", "/n/worktrees/shared"],
  ["./a/../b/", "/n/worktrees/b"],
  ["~", "/home/me"],
  ["~/x", "/home/me/x"],
  ["$HOME/x", "/home/me/x"],
  ["~user/x", "/n/worktrees/~user/x"],
  ["$HOMER", "/n/worktrees/$HOMER"],
  ["/abs//x/.", "/abs/x"],
  ["/", "/"],
  ["/with space ", "/with space "],
])("workspace %p is %s", (workspace, expected) => {
  expect(workspaceOf(declare({ workspace }), CONTEXT)).toBe(expected);
});

test("mergeTags: kept under declared, a launch's own over both, none of its leftovers", () => {
  const kept = {
    mine: "kept",
    other: "kept",
    strategy: "permanent",
    "convoy.task": "agent",
    "convoy.spawner": "box.old",
    ptyfile: "/p",
    "ptyfile.session": "x",
    "strategy.consecutive-fast-fails": "2",
  };
  expect(mergeTags(kept, { mine: "declared", role: "agent", "convoy.agent": "box.a" })).toEqual({
    mine: "declared",
    other: "kept",
    "strategy.consecutive-fast-fails": "2",
    role: "agent",
    "convoy.agent": "box.a",
  });
});

test("compiling again is the same command, and so the same hash", () => {
  const hashes = [1, 2].map(() => {
    const spec = only(compileSessions(declare({ persona: "p.md" }), CONTEXT));
    return commandHash(spec.command, spec.args);
  });
  expect(hashes[0]).toBe(hashes[1] as string);
});

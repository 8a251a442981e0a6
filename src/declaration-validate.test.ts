import { expect, test } from "bun:test";
import type { Declaration } from "./declaration.ts";
import { validateDeclaration } from "./declaration-validate.ts";
import type { ObjectPath } from "./table-reader.ts";

const SMALL = { identity: "fabric", role: "worker", supervisor: "boss" };
const DEFAULTS: Declaration = {
  identity: "fabric",
  role: "worker",
  supervisor: "boss",
  host: null,
  workspace: null,
  harness: "claude",
  bin: null,
  model: null,
  transport: "ding",
  persona: null,
  strategy: "permanent",
  retired: false,
  prefix: null,
  env: {},
  render: { file: [], dir: [] },
  tasks: [],
};

test("the smallest declaration has defaults for the rest", () => {
  expect(validateDeclaration(SMALL)).toEqual({
    kind: "declaration",
    claimedIdentity: "fabric",
    hostWritten: false,
    declaration: DEFAULTS,
    issues: [],
  });
});

test("every member is read", () => {
  const result = validateDeclaration({
    ...SMALL,
    role: "technical-manager",
    host: "Box.Example.com",
    workspace: "~/w",
    harness: "codex",
    bin: "/opt/codex-2",
    model: "openai/gpt:5.1",
    transport: "mcp",
    persona: "personas/p.md",
    strategy: "batch",
    retired: true,
    prefix: "Team",
    env: { A: "1", "odd-name": "", ["__proto__"]: "x" },
    render: {
      file: [
        { dest: "a", from: "b", mode: "0644" },
        { dest: "c", from: "d" },
      ],
      dir: { dest: "e", from: "f" },
    },
    pty: {
      agent: {
        command: "run it",
        id: "Own_Id",
        cwd: "sub",
        tags: { role: "agent" },
        env: { B: "2" },
        keep: true,
      },
      web: { command: "serve" },
    },
  });
  expect(result).toEqual({
    kind: "declaration",
    claimedIdentity: "fabric",
    hostWritten: true,
    issues: [],
    declaration: {
      identity: "fabric",
      role: "technical-manager",
      supervisor: "boss",
      host: "box",
      workspace: "~/w",
      harness: "codex",
      bin: "/opt/codex-2",
      model: "openai/gpt:5.1",
      transport: "mcp",
      persona: "personas/p.md",
      strategy: "batch",
      retired: true,
      prefix: "team",
      env: Object.fromEntries([
        ["A", "1"],
        ["odd-name", ""],
        ["__proto__", "x"],
      ]),
      render: {
        file: [
          { dest: "a", from: "b", mode: "0644" },
          { dest: "c", from: "d", mode: null },
        ],
        dir: [{ dest: "e", from: "f" }],
      },
      tasks: [
        {
          name: "agent",
          command: "run it",
          id: "Own_Id",
          cwd: "sub",
          tags: { role: "agent" },
          env: { B: "2" },
          keep: true,
        },
        { name: "web", command: "serve", id: null, cwd: null, tags: {}, env: {}, keep: null },
      ],
    },
  });
});

test.each([[null], [[]], ["x"], [{}], [{ name: "package", version: "1" }], [new Date(0)]])(
  "another document %#",
  (raw) => {
    expect(validateDeclaration(raw)).toEqual({ kind: "other" });
  },
);

test("only one of identity and role is an error", () => {
  expect(validateDeclaration({ identity: "fabric" })).toEqual({
    kind: "invalid",
    claimedIdentity: "fabric",
    hostWritten: false,
    issues: [
      {
        severity: "error",
        path: ["identity"],
        message: "role is missing: a declaration has both identity and role",
      },
    ],
  });
  expect(validateDeclaration({ role: "chief-of-staff", host: "box" })).toEqual({
    kind: "invalid",
    claimedIdentity: null,
    hostWritten: true,
    issues: [
      {
        severity: "error",
        path: ["role"],
        message: "identity is missing: a declaration has both identity and role",
      },
    ],
  });
});

test("all issues of a document are found at once", () => {
  const result = validateDeclaration({
    identity: "A",
    role: "x",
    retired: 1,
    env: { A: 1 },
    harnes: "codex",
  });
  expect(result.kind === "invalid" && result.issues.map((issue) => [issue.severity, ...issue.path])).toEqual([
    ["error", "identity"],
    ["error", "role"],
    ["error", "retired"],
    ["error", "env", "A"],
    ["warning", "harnes"],
  ]);
});

const WARNINGS: readonly (readonly [object, ObjectPath, string])[] = [
  [{ supervisor: undefined }, ["role"], "no supervisor is named: this worker reports to nobody"],
  [{ harnes: "codex" }, ["harnes"], 'harnes is not a known member; did you mean "harness"?'],
  [{ colour: "red" }, ["colour"], "colour is not a known member"],
  [{ ptys: {} }, ["ptys"], 'ptys is not a known member; did you mean "pty"?'],
  [{ pty: { a: { command: "x", dir: "y" } } }, ["pty", "a", "dir"], "pty.a.dir is not a known member"],
  [
    { render: { files: [] } },
    ["render", "files"],
    'render.files is not a known member; did you mean "file"?',
  ],
  [
    { pty: { a: { command: "x", tags: { role: "agent" } }, b: { command: "y", tags: { role: "agent" } } } },
    ["pty", "b"],
    "two tasks are tagged role=agent: the first, a, is the agent's own",
  ],
];

test.each(WARNINGS)("warning %#", (members, path, message) => {
  const raw = Object.fromEntries(
    Object.entries({ ...SMALL, ...members }).filter(([, value]) => value !== undefined),
  );
  const result = validateDeclaration(raw);
  expect({ kind: result.kind, issues: result.kind === "other" ? [] : result.issues }).toEqual({
    kind: "declaration",
    issues: [{ severity: "warning", path, message }],
  });
});

test("a chief of staff reports to nobody, and a null supervisor is an error only", () => {
  expect(validateDeclaration({ identity: "boss", role: "chief-of-staff" })).toMatchObject({
    kind: "declaration",
    issues: [],
  });
  expect(validateDeclaration({ ...SMALL, supervisor: null })).toMatchObject({
    issues: [{ path: ["supervisor"] }],
  });
});

test("JSON spells the tasks ptys, not both", () => {
  const ptys = { agent: { command: "x" } };
  expect(validateDeclaration({ ...SMALL, ptys }, { ptys: true })).toMatchObject({
    declaration: { tasks: [{ name: "agent", command: "x" }] },
    issues: [],
  });
  expect(validateDeclaration({ ...SMALL, pty: ptys, ptys }, { ptys: true })).toMatchObject({
    kind: "invalid",
    issues: [{ path: ["ptys"], message: "pty and ptys are two spellings of one member: write one of them" }],
  });
});

import { expect, test } from "bun:test";
import { validateDeclaration } from "./declaration-validate.ts";
import type { ObjectPath } from "./table-reader.ts";

const SMALL = { identity: "fabric", role: "worker", supervisor: "boss" };

const ISSUES: readonly (readonly [object, ObjectPath, string])[] = [
  [{ identity: 7 }, ["identity"], 'identity must be a string, found the number 7; write "7"'],
  [{ identity: "" }, ["identity"], "identity is empty"],
  [{ identity: "status" }, ["identity"], 'identity "status" is a word the message bus keeps for itself'],
  [
    { role: "boss" },
    ["role"],
    'role must be chief-of-staff, supervisor, worker or technical-manager, found the string "boss"',
  ],
  [
    { role: "workr" },
    ["role"],
    'role must be chief-of-staff, supervisor, worker or technical-manager, found the string "workr"; did you mean "worker"?',
  ],
  [
    { role: ["worker"] },
    ["role"],
    "role must be chief-of-staff, supervisor, worker or technical-manager, found a list of 1",
  ],
  [
    { harness: "gemini" },
    ["harness"],
    'harness must be claude, codex, opencode or pi, found the string "gemini"',
  ],
  [{ retired: "yes" }, ["retired"], 'retired must be true or false, found the string "yes"'],
  [{ retired: null }, ["retired"], "retired must be true or false, found nothing"],
  [
    { bin: "claude --x" },
    ["bin"],
    'bin must be letters, digits, ".", "_", "/" and "-" only, no arguments, found "claude --x"',
  ],
  [
    { model: "a b" },
    ["model"],
    'model must be letters, digits, ".", "_", ":", "/" and "-" only, found "a b"',
  ],
  [
    { host: ".example.com" },
    ["host"],
    'host ".example.com" is not a host\'s name (letters, digits, "-"; the first label counts)',
  ],
  [
    { prefix: "-x" },
    ["prefix"],
    'prefix "-x" must be letters, digits, "." and "-", with a letter or digit at both ends',
  ],
  [{ workspace: " " }, ["workspace"], "workspace is empty"],
  [{ persona: "a\0b" }, ["persona"], "persona contains a NUL character"],
  [{ persona: "a\ud800" }, ["persona"], "persona contains half of a surrogate pair"],
  [{ env: "A=1" }, ["env"], 'env must be a table, found the string "A=1"'],
  [
    { env: { PORT: 8080 } },
    ["env", "PORT"],
    'env.PORT must be a string, found the number 8080; write "8080"',
  ],
  [{ env: { D: new Date(0) } }, ["env", "D"], "env.D must be a string, found a date"],
  [{ env: { "A=B": "" } }, ["env", "A=B"], 'env."A=B": the name contains "="'],
  [
    { render: { file: "x" } },
    ["render", "file"],
    'render.file must be a list of tables, found the string "x"',
  ],
  [{ render: { file: [{ dest: "x" }] } }, ["render", "file", 0], "render.file[0].from is missing"],
  [
    { render: { file: [{ dest: "../x", from: "x" }] } },
    ["render", "file", 0, "dest"],
    'render.file[0].dest "../x" must be inside the workspace: a relative path without ".."',
  ],
  [
    { render: { dir: [{ dest: "/x", from: "x" }] } },
    ["render", "dir", 0, "dest"],
    'render.dir[0].dest "/x" must be inside the workspace: a relative path without ".."',
  ],
  [
    { render: { file: [{ dest: "x", from: "x", mode: "rw" }] } },
    ["render", "file", 0, "mode"],
    'render.file[0].mode must be three octal digits, like "644" or "0755", found "rw"',
  ],
  [
    {
      render: {
        file: [
          { dest: "x", from: "x" },
          { dest: "./x", from: "y" },
        ],
      },
    },
    ["render", "file", 1, "dest"],
    'render.file[1].dest "./x" is another file\'s destination too',
  ],
  [{ render: { dir: [3] } }, ["render", "dir", 0], "render.dir[0] must be a table, found the number 3"],
  [{ pty: { agent: "x" } }, ["pty", "agent"], 'pty.agent must be a table, found the string "x"'],
  [{ pty: { agent: {} } }, ["pty", "agent"], "pty.agent.command is missing"],
  [{ pty: { agent: { command: "" } } }, ["pty", "agent", "command"], "pty.agent.command is empty"],
  [
    { pty: { "a b": { command: "x" } } },
    ["pty", "a b"],
    'a task\'s name is letters, digits, ".", "_" and "-", found "a b"',
  ],
  [
    { pty: { a: { command: "x", id: "a/b" } } },
    ["pty", "a", "id"],
    'pty.a.id "a/b" is not a session\'s name: letters, digits, ".", "_" and "-"',
  ],
  [
    { pty: { a: { command: "x", keep: 1 } } },
    ["pty", "a", "keep"],
    "pty.a.keep must be true or false, found the number 1",
  ],
];

test.each(ISSUES)("error %#", (members, path, message) => {
  const raw = { ...SMALL, ...members };
  expect(validateDeclaration(raw)).toEqual({
    kind: "invalid",
    claimedIdentity: typeof raw.identity === "string" ? raw.identity : null,
    hostWritten: "host" in members,
    issues: [{ severity: "error", path, message }],
  });
});

import { expect, test } from "bun:test";
import { type DeclarationFields, formatDeclaration } from "./declaration-format.ts";

const FIELDS: DeclarationFields = {
  role: "worker",
  supervisor: "boss",
  workspace: 'C:\\odd "path"',
  retired: false,
  env: { A: "1", "odd name": "two\nlines" },
  command: "run --now",
};

test("TOML", () => {
  expect(formatDeclaration("toml", "box", "fabric", FIELDS)).toBe(
    `host = "box"
identity = "fabric"
role = "worker"
supervisor = "boss"
workspace = "C:\\\\odd \\"path\\""
retired = false

[env]
A = "1"
"odd name" = "two\\nlines"

[pty.agent]
command = "run --now"
`,
  );
});

test("KDL", () => {
  expect(formatDeclaration("kdl", "box", "fabric", FIELDS)).toBe(
    `host "box"
identity "fabric"
role "worker"
supervisor "boss"
workspace "C:\\\\odd \\"path\\""
retired #false
env {
    A "1"
    "odd name" "two\\nlines"
}
pty "agent" {
    command "run --now"
}
`,
  );
});

test("JSON", () => {
  expect(formatDeclaration("json", "box", "fabric", { role: "worker", env: {}, command: "x" })).toBe(
    `{
  "host": "box",
  "identity": "fabric",
  "role": "worker",
  "pty": {
    "agent": {
      "command": "x"
    }
  }
}
`,
  );
});

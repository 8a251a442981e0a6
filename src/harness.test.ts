import { describe, expect, test } from "bun:test";
import { HARNESS_NAMES } from "./declaration.ts";
import { formatHarnessLine, HARNESSES, quoteForShell } from "./harness.ts";

describe("formatHarnessLine", () => {
  test.each([
    ["claude", "claude --permission-mode bypassPermissions 'hi'"],
    ["codex", "codex --dangerously-bypass-approvals-and-sandbox 'hi'"],
    ["opencode", "opencode --auto --prompt 'hi'"],
    ["pi", "pi --approve 'hi'"],
  ] as const)("%s", (harness, line) => {
    expect(formatHarnessLine({ harness, bin: null, model: null, prompt: "hi" })).toBe(line);
  });

  test("a binary of one's own keeps the flags, the model goes before the prompt", () => {
    expect(
      formatHarnessLine({ harness: "opencode", bin: "/opt/oc", model: "a/b:1", prompt: "it's on" }),
    ).toBe("/opt/oc --auto --model a/b:1 --prompt 'it'\\''s on'");
  });
});

test("every harness that can be declared has a record, and only these", () => {
  expect(Object.keys(HARNESSES).sort()).toEqual([...HARNESS_NAMES].sort());
});

test.each(["", "plain", "it's", "a b", '$(touch x) `id` \\ "q" !', "ünïcode ✓", "'"])(
  "quoteForShell(%p) is the same word for a shell",
  async (text) => {
    const shell = Bun.spawn(["sh", "-c", `printf %s ${quoteForShell(text)}`], { stdout: "pipe" });
    expect(await new Response(shell.stdout).text()).toBe(text);
    await shell.exited;
  },
);

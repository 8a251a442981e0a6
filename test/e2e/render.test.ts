/** `render`: what a declaration puts into its agent's workspace before a launch, and where it stops. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DEADLINE_MS, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const RENDER = [
  "[[render.file]]",
  'dest = "CLAUDE.md"',
  'from = "persona.md"',
  'mode = "0600"',
  "[[render.dir]]",
  'dest = ".claude"',
  'from = "../shared"',
];
/** Keeps what it finds at its start. */
const READER = 'cat CLAUDE.md .claude/settings.json >>"$HOME/seen"; exec agent a';

const workspace = (identity = "a") => join(net.root, "worktrees", identity);
const inWorkspace = (name: string) => readFileSync(join(workspace(), name), "utf8");
const seen = () => readFileSync(join(net.home, "seen"), "utf8");

function source(path: string, text: string): void {
  const file = join(net.catalog, "box", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function git(...words: string[]): string {
  const env = { ...net.env(), GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const ran = Bun.spawnSync(["git", ...author, ...words], { cwd: net.home, env });
  if (ran.exitCode !== 0) throw new Error(ran.stderr.toString());
  return ran.stdout.toString();
}

test("an agent finds its files at its first instruction; git does not show them; nothing is written twice", async () => {
  git("init", "-q", "repo");
  git("-C", "repo", "commit", "-q", "--allow-empty", "-m", "x");
  git("-C", "repo", "worktree", "add", "-q", workspace());
  source("a/persona.md", "be kind\n");
  source("shared/settings.json", "{}\n");
  net.declare("a", { command: READER, tables: RENDER });

  const before = snapshot(net.home);
  await net.plan();
  await net.convoy(["down", "--dry-run"]);
  await net.convoy(["validate"]);
  expect(snapshot(net.home)).toEqual(before);

  const { code, events } = await net.once();
  const about = { identity: "a", busId: "box.a", session: "box.a" };
  const files = [".claude/settings.json", "CLAUDE.md"];
  expect(code).toBe(0);
  expect(events.filter(({ type }) => type === "render" || type === "launch")).toMatchObject([
    { type: "render", ...about, workspace: workspace(), files },
    { type: "launch", ...about },
  ]);
  await until("the agent to have read", () => net.runs("a").length === 1);
  expect(seen()).toBe("be kind\n{}\n");
  expect(statSync(join(workspace(), "CLAUDE.md")).mode & 0o777).toBe(0o600);
  expect([
    git("-C", workspace(), "status", "--porcelain"),
    git("-C", "repo", "status", "--porcelain"),
  ]).toEqual(["", ""]);
  expect(readFileSync(join(net.home, "repo/.git/info/exclude"), "utf8")).toEndWith(
    "# Rendered by convoy\n/.claude/settings.json\n/CLAUDE.md\n",
  );

  const rendered = snapshot(workspace());
  const exclude = snapshot(join(net.home, "repo/.git/info"));
  expect((await net.convoy(["restart", "a"])).code).toBe(0);
  expect([snapshot(workspace()), snapshot(join(net.home, "repo/.git/info"))]).toEqual([rendered, exclude]);
  expect(net.said("render").length).toBe(1);
});

test("under a running agent nothing changes; its next launch has what is declared then", async () => {
  source("a/persona.md", "one\n");
  source("shared/settings.json", "{}\n");
  net.declare("a", { command: READER, tables: RENDER });
  await net.up(["--interval", "0.1"]);
  const pid = await net.running("a");
  await until("the agent to have read", () => net.runs("a").length === 1);
  source("a/persona.md", "two\n");
  writeFileSync(join(workspace(), ".claude/settings.json"), "mine\n");
  net.declare("b");
  await net.running("b");
  expect([inWorkspace("CLAUDE.md"), inWorkspace(".claude/settings.json"), net.pid("a")]).toEqual([
    "one\n",
    "mine\n",
    pid,
  ]);
  kill(pid);
  await net.running("a", pid);
  await until("the agent to have read again", () => net.runs("a").length === 2);
  expect(seen()).toBe("one\n{}\ntwo\n{}\n");
});

test("what cannot be rendered is said, and the agent starts all the same", async () => {
  source("shared/settings.json", "{}\n");
  mkdirSync(workspace(), { recursive: true });
  mkdirSync(join(net.home, "outside"));
  symlinkSync(join(net.home, "outside"), join(workspace(), ".claude"));
  net.declare("a", { tables: RENDER });
  const { code, events } = await net.once();
  expect(code).toBe(0);
  const warnings = events.filter(({ type }) => type === "warning");
  expect(warnings).toMatchObject([
    {
      busId: "box.a",
      message: `box.a is not rendered as declared: CLAUDE.md: ${net.catalog}/box/a/persona.md is not there`,
    },
    {
      busId: "box.a",
      message: `box.a is not rendered as declared: .claude/settings.json: ${workspace()}/.claude is a link that leads out of the workspace to ${net.home}/outside`,
    },
  ]);
  expect([net.pid("a") !== null, existsSync(join(net.home, "outside/settings.json"))]).toEqual([true, false]);
  const told = await net.convoy(["events", "a"]);
  expect(told.stdout).toContain("persona.md is not there");
});

test("a destination outside of the workspace is an error with its line, and nothing is launched", async () => {
  const path = net.declare("a", { tables: ["[[render.file]]", 'dest = "../../x"', 'from = "x"'] });
  const line = readFileSync(path, "utf8").split("\n").indexOf('dest = "../../x"') + 1;
  const { code, stdout } = await net.convoy(["validate"]);
  expect(code).toBe(1);
  expect(stdout).toContain(
    `box/a/agent.toml:${line}: error: render.file[0].dest "../../x" must be inside the workspace: a relative path without ".."`,
  );
  expect((await net.once()).code).toBe(1);
  expect([net.runs("a"), existsSync(join(net.root, "x"))]).toEqual([[], false]);
});

test("of an agent that works elsewhere the workspace is made and rendered too", async () => {
  const at = join(net.home, "elsewhere");
  mkdirSync(at);
  source("k/f", "f");
  const text = `host "box"
identity "k"
role "chief-of-staff"
render {
  file dest="f" from="f"
}
pty "agent" { command "exec agent k"; cwd "${at}" }
`;
  writeFileSync(join(net.catalog, "box/k/agent.kdl"), text);
  expect((await net.once()).code).toBe(0);
  await net.running("k");
  expect(readFileSync(join(workspace("k"), "f"), "utf8")).toBe("f");
});

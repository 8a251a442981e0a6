import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY, createHome, type Home, namedNetwork } from "./binary.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

test("--version and --help print on stdout and exit 0", async () => {
  const version = await home.convoy(["--version"]);
  expect(version).toEqual({ code: 0, stdout: expect.stringMatching(/^convoy \d+\.\d+\.\d+\n$/), stderr: "" });
  expect(await home.convoy(["-v"])).toEqual(version);
  const help = await home.convoy(["--help"]);
  expect(help).toEqual({ code: 0, stdout: expect.stringContaining("Examples:"), stderr: "" });
  expect(await home.convoy(["-h"])).toEqual(help);
});

test("init creates the four folders, once", async () => {
  const root = namedNetwork(home);
  expect(await home.convoy(["init"])).toEqual({
    code: 0,
    stdout: `${root}\n`,
    stderr: `Created catalog, smalltalk, pty, worktrees.
Next, declare an agent and start it:
  convoy add worker --identity my-agent
  convoy up
`,
  });
  expect(readdirSync(root).sort()).toEqual(["catalog", "pty", "smalltalk", "worktrees"]);
  expect(statSync(join(root, "pty")).mode & 0o777).toBe(0o700);
  chmodSync(join(root, "pty"), 0o755);
  const again = await home.convoy(["init", "--json"]);
  expect(again).toEqual({
    code: 0,
    stdout: `${JSON.stringify({ network: root, created: [] }, null, 2)}\n`,
    stderr: "",
  });
  expect(statSync(join(root, "pty")).mode & 0o777).toBe(0o700);
});

test("init says what is in the way", async () => {
  const root = join(home.path, "n");
  mkdirSync(root);
  writeFileSync(join(root, "smalltalk"), "");
  expect(await home.convoy(["init", "./n"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `convoy: ${root}/smalltalk cannot be a folder: a file is in the way
  next: move it away, or name another network
`,
  });
});

test("env can be evaluated by a shell, whatever the path holds", async () => {
  const root = join(home.path, "it's $HOME");
  await home.convoy(["init", root]);
  const { stdout, code } = await home.convoy(["env", root]);
  expect(code).toBe(0);
  const shell = spawnSync("sh", ["-c", `${stdout}env`], {
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });
  expect(
    shell.stdout
      .split("\n")
      .filter((line) => /^(ST_|PTY_|CONVOY_)/.test(line))
      .sort(),
  ).toEqual([
    `CONVOY_NETWORK=${root}`,
    `PTY_ROOT=${root}/pty`,
    "PTY_ROOT_LEGACY_SILENT=1",
    `PTY_SESSION_DIR=${root}/pty`,
    `ST_ROOT=${root}/smalltalk`,
  ]);
  expect(JSON.parse((await home.convoy(["env", root, "--json"])).stdout)).toEqual({
    ST_ROOT: `${root}/smalltalk`,
    PTY_ROOT: `${root}/pty`,
    PTY_SESSION_DIR: `${root}/pty`,
    PTY_ROOT_LEGACY_SILENT: "1",
    CONVOY_NETWORK: root,
  });
});

test("a network that does not exist is named, with the command that creates it, and exits 3", async () => {
  expect(await home.convoy(["env", "--network", "work"])).toEqual({
    code: 3,
    stdout: "",
    stderr: `convoy: no network at ${namedNetwork(home, "work")}\n  next: convoy init work\n`,
  });
  expect(await home.convoy(["env"], { env: { CONVOY_NETWORK: "/tmp/cv-none" } })).toEqual({
    code: 3,
    stdout: "",
    stderr: "convoy: no network at /tmp/cv-none (from $CONVOY_NETWORK)\n  next: convoy init /tmp/cv-none\n",
  });
});

test("a network that was not meant: an agent of that name, a name like it, and the names that there are", async () => {
  await home.convoy(["init"]);
  await home.convoy(["init", "work"]);
  await home.convoy(["add", "worker", "--identity", "fabric", "--host", "gold"]);
  const told: [string[], string, string, string][] = [
    [["ls", "fabric"], "fabric", "fabric is an agent of the network default", "convoy peek fabric"],
    [["peek", "x", "--network", "wrok"], "wrok", "did you mean work?", "convoy ls --network work"],
    [["ls", "other"], "other", "networks here: default, work", "convoy init other"],
  ];
  for (const [words, name, what, next] of told)
    expect(await home.convoy(words)).toEqual({
      code: 3,
      stdout: "",
      stderr: `convoy: no network at ${namedNetwork(home, name)}; ${what}\n  next: ${next}\n`,
    });
  const { code, stderr } = await home.convoy(["up", "fabric"]);
  expect([code, stderr]).toEqual([3, expect.stringContaining("; fabric is an agent of the network default")]);
});

test("settings of the current folder are not read", async () => {
  writeFileSync(join(home.path, ".env"), `CONVOY_NETWORK=${home.path}/other\n`);
  writeFileSync(join(home.path, "bunfig.toml"), 'preload = ["./missing.ts"]\n');
  expect((await home.convoy(["init"])).stdout).toBe(`${namedNetwork(home)}\n`);
});

test("a reader that leaves early is no error", () => {
  const line = `"${BINARY}" --help | true; "${BINARY}" --help >&-; echo $?`;
  const shell = spawnSync("sh", ["-c", line], {
    encoding: "utf8",
    env: { HOME: home.path, PATH: process.env.PATH },
  });
  expect([shell.stdout, shell.stderr]).toEqual(["0\n", ""]);
});

test.each([
  ["a message that cannot be written", '"$0" bogus 2>/dev/full', 2],
  ["data that cannot be written", '"$0" --help >/dev/full', 1],
  ["neither", '"$0" --help >/dev/full 2>/dev/full', 1],
])("%s leaves the exit code as it should be", (_, line, code) => {
  expect(spawnSync("sh", ["-c", line, BINARY]).status).toBe(code);
});

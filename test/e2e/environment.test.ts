/** What an agent gets from wherever convoy is typed, and what its host keeps of that: nothing. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readLogin } from "../../src/system/login.ts";
import { processTable } from "../../src/system/processes.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, HOST, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

/** Writes down its whole environment, then idles. */
const DUMP = `#!/bin/sh
mkdir -p "$HOME/dumps"
env -0 >"$HOME/dumps/.$PTY_SESSION.$$"
mv "$HOME/dumps/.$PTY_SESSION.$$" "$HOME/dumps/$PTY_SESSION.$$"
exec sleep 100000
`;
const BARE = "/usr/bin:/bin";
const SYSTEM_PATH = process.env.PATH ?? BARE;

let net: Net;
/** By its path: not every start has the network's own folder on PATH. */
const DUMP_COMMAND = () => `exec ${join(net.bin, "dump")}`;
beforeEach(() => {
  net = new Net();
  net.program("dump", DUMP);
  net.declare("a", { command: DUMP_COMMAND() });
});
afterEach(() => net.remove());

/** The environment that the agent with this pid dumped, sorted; waits for it. */
async function dumpOf(identity: string, pid: number): Promise<string[]> {
  const path = join(net.home, "dumps", `${HOST}.${identity}.${pid}`);
  await until(`the environment of ${identity}`, () => existsSync(path));
  return readFileSync(path, "utf8")
    .split("\0")
    .filter((entry) => entry !== "" && !entry.startsWith("_="))
    .sort();
}

async function dumpOfRunning(identity = "a", other: number | null = null): Promise<string[]> {
  return await dumpOf(identity, await net.running(identity, other));
}

/** What an agent gets of a login with nothing in its environment but HOME, PATH and `more`. */
function expectedEnvironment(path: string, more: Readonly<Record<string, string>> = {}): string[] {
  const { user, shell } = readLogin(net.home, {});
  const expected: Record<string, string | null> = {
    HOME: net.home,
    PATH: path,
    LANG: "C.UTF-8",
    USER: user,
    LOGNAME: user,
    SHELL: shell,
    TERM: "xterm-256color",
    // Its own shell's.
    PWD: join(net.root, "worktrees", "a"),
    ST_ROOT: join(net.root, "smalltalk"),
    ST_AGENT: `${HOST}.a`,
    PTY_ROOT: net.pty,
    PTY_SESSION_DIR: net.pty,
    PTY_ROOT_LEGACY_SILENT: "1",
    PTY_SESSION: `${HOST}.a`,
    CONVOY_NETWORK: net.root,
    ...more,
  };
  return Object.entries(expected)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

/** Runs a shell line in an environment of its own, to its end. */
async function shell(line: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = Bun.spawn(["sh", "-c", line], {
    cwd: net.home,
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(`${line}: ${code}\n${out}${err}`);
}

const upOnce = () => `CONVOY_HOST=${HOST} "${BINARY}" up --once --network "${net.root}"`;

/** An agent of the network at `root` that types a command once it is let. */
function declareTyper(root: string): void {
  net.program(
    "typer",
    `#!/bin/sh\nuntil [ -e "$HOME/go" ]; do sleep 0.05; done\n${upOnce()}\nexec sleep 100000\n`,
  );
  const folder = join(root, "catalog", HOST, "typer");
  mkdirSync(folder, { recursive: true });
  const lines = [`host = "${HOST}"`, 'identity = "typer"', 'role = "worker"', "[pty.agent]"];
  writeFileSync(
    join(folder, "agent.toml"),
    [...lines, `command = "exec ${join(net.bin, "typer")}"`, ""].join("\n"),
  );
}

/** Everything that says who started convoy, or how its own output is to look. */
const MISLEADING: Readonly<Record<string, string>> = {
  CLAUDECODE: "1",
  CLAUDE_CODE_ENTRYPOINT: "cli",
  CLAUDE_CODE_SSE_PORT: "1",
  TMUX: "/tmp/none,1,0",
  TMUX_PANE: "%1",
  STY: "1.pts",
  PTY_SESSION: "another",
  PTY_ROOT: "/tmp/none",
  ST_AGENT: "other.x",
  NO_COLOR: "1",
  COLUMNS: "10",
  LINES: "5",
  TERM: "dumb",
  COLORTERM: "truecolor",
  BUN_OPTIONS: "--smol",
  BUN_INSTALL: "/tmp/none",
  SHLVL: "7",
  OLDPWD: "/tmp",
  SSH_TTY: "/dev/pts/99",
  CONVOY_DEBUG: "1",
};

const STARTS: Readonly<Record<string, () => Promise<string[]>>> = {
  async "a plain terminal"() {
    const terminal = { cols: 100, rows: 30, name: "vt220", data: () => undefined };
    const words = ["sh", "-c", upOnce()];
    const child = Bun.spawn(words, { cwd: net.home, env: { ...net.env(), TERM: "vt220" }, terminal });
    expect(await child.exited).toBe(0);
    child.terminal?.close();
    return expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`);
  },
  async "tmux, or what it sets where there is none"() {
    const tmux = Bun.which("tmux");
    if (tmux === null)
      await shell(upOnce(), { ...net.env(), TMUX: "/tmp/x,1,0", TMUX_PANE: "%0", TERM: "screen" });
    else {
      const socket = join(net.home, "tmux.sock");
      await shell(
        `"${tmux}" -S "${socket}" -f /dev/null new-session -d '${upOnce()}; : >"$HOME/typed"' && until [ -e "$HOME/typed" ]; do sleep 0.02; done`,
        net.env(),
      );
    }
    return expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`);
  },
  async "inside an agent of the same network"() {
    rmSync(join(net.catalog, HOST, "a"), { recursive: true });
    declareTyper(net.root);
    await net.convoy(["up", "--once"]);
    net.declare("a", { command: DUMP_COMMAND() });
    writeFileSync(join(net.home, "go"), "");
    return expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`);
  },
  async "inside an agent of another network"() {
    const other = join(net.home, "other");
    await net.convoy(["init", other]);
    declareTyper(other);
    await shell(`CONVOY_HOST=${HOST} "${BINARY}" up --once --network "${other}"`, net.env());
    writeFileSync(join(net.home, "go"), "");
    return expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`);
  },
  async "env -i with HOME and PATH alone"() {
    await shell(`env -i HOME="$HOME" PATH=${BARE} ${upOnce()}`, net.env());
    return expectedEnvironment(BARE);
  },
  async "a shell full of what misleads"() {
    await shell(upOnce(), { ...net.env(), ...MISLEADING });
    return expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`);
  },
};

describe("an agent gets the same from", () => {
  for (const [name, start] of Object.entries(STARTS)) {
    test(name, async () => {
      const expected = await start();
      expect(await dumpOfRunning()).toEqual(expected);
    });
  }
});

const FIRST = { LANG: "de_DE.UTF-8", EDITOR: "one", ANTHROPIC_API_KEY: "first", LC_ALL: "C" };
const SECOND = { ...MISLEADING, EDITOR: "two", PAGER: "two", ANTHROPIC_API_KEY: "second", PATH: BARE };

test("a respawn from another shell is the first launch again, byte for byte; restart takes the new shell's", async () => {
  await shell(upOnce(), { ...net.env(), ...FIRST });
  const first = await net.running("a");
  const dumped = await dumpOf("a", first);
  expect(dumped).toEqual(expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`, FIRST));

  kill(first);
  await until("a to be dead", () => net.ledger("a")?.end !== null);
  await shell(upOnce(), { ...net.env(), ...SECOND });
  const second = await net.running("a", first);
  expect(await dumpOf("a", second)).toEqual(dumped);

  await shell(`CONVOY_HOST=${HOST} "${BINARY}" restart a --network "${net.root}"`, {
    HOME: net.home,
    ...SECOND,
  });
  const third = await net.running("a", second);
  expect(await dumpOf("a", third)).toEqual(
    expectedEnvironment(BARE, { EDITOR: "two", PAGER: "two", ANTHROPIC_API_KEY: "second" }),
  );
});

test("what a declaration sets goes over what is inherited, scrubbed or not, and the network's wiring over both", async () => {
  net.declare("a", {
    command: DUMP_COMMAND(),
    lines: [
      'env = { EDITOR = "declared", TERM = "vt100", NO_COLOR = "1", ST_AGENT = "x.y", PTY_SESSION = "z" }',
    ],
  });
  await shell(upOnce(), { ...net.env(), EDITOR: "inherited" });
  expect(await dumpOfRunning()).toEqual(
    expectedEnvironment(`${net.bin}:${SYSTEM_PATH}`, { EDITOR: "declared", TERM: "vt100", NO_COLOR: "1" }),
  );
});

const SECRET = "s3cr3t-of-a-test";

/** Where an open descriptor leads, without the numbers of sockets. */
function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((fd) =>
      readlinkSync(join(folder, fd))
        .replace(/^socket:.*/, "socket")
        .replace(/\d+$/, "N"),
    )
    .sort();
}

test("a host holds nothing of who started it: no variable, descriptor, terminal, folder or group", async () => {
  const open = 'exec 5</etc/passwd 6>"$HOME/leaked" 7>&6 8</dev/zero';
  const variables = { ANTHROPIC_API_KEY: SECRET, CLAUDE_CODE_OAUTH_TOKEN: SECRET, ...MISLEADING };
  const terminal = { cols: 80, rows: 24, data: () => undefined };
  const child = Bun.spawn(["sh", "-c", `${open}; ${upOnce()}`], {
    cwd: net.home,
    env: { ...net.env(), ...variables },
    terminal,
  });
  expect(await child.exited).toBe(0);
  child.terminal?.close();
  expect(await dumpOfRunning()).toContain(`ANTHROPIC_API_KEY=${SECRET}`);

  const host = net.ledger("a")?.host?.pid ?? 0;
  const environment = (processTable.environment(host) ?? []).filter((entry) => entry !== "");
  expect(environment.map((entry) => entry.split("=")[0]).filter((name) => !name?.startsWith("BUN_"))).toEqual(
    ["PATH", "HOME"],
  );
  expect(processTable.commandLine(host)).toEqual(["convoy", "__session-host", net.pty, `${HOST}.a`]);
  expect(readlinkSync(`/proc/${host}/cwd`)).toBe("/");
  const [, group, session, tty] = fieldsOf(host);
  expect({ group, session, tty }).toEqual({ group: String(host), session: String(host), tty: "0" });

  const own = [
    "/dev/null",
    "socket",
    "/dev/ptmx",
    "/dev/pts/N",
    join(net.state, "sessions", `${HOST}.a.alive`),
  ];
  const strange = descriptorsOf(host).filter(
    (target) => !own.includes(target) && !/^anon_inode:\[(?:event|pidfd|timerfd|signalfd)/.test(target),
  );
  expect(strange).toEqual([]);
  expect(descriptorsOf(host).filter((target) => target === "socket")).toEqual(["socket"]);
});

test("secrets stand in no argument list, and only the owner reads the ledger that has them", async () => {
  await shell(upOnce(), { ...net.env(), ANTHROPIC_API_KEY: SECRET });
  await dumpOfRunning();
  const told = net.processes().flatMap((pid) => processTable.commandLine(pid) ?? []);
  expect(told.filter((word) => word.includes(SECRET))).toEqual([]);
  expect(readFileSync(join(net.pty, `${HOST}.a.json`), "utf8")).not.toContain(SECRET);
  const ledger = join(net.state, "sessions", `${HOST}.a.json`);
  expect(readFileSync(ledger, "utf8")).toContain(SECRET);
  const stat = Bun.spawnSync(["stat", "-c", "%a", ledger, net.state, net.pty]).stdout.toString();
  expect(stat.trim().split("\n")).toEqual(["600", "700", "700"]);
});

/** Parent, group, session and terminal of a process. */
function fieldsOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .slice(1, 5);
}

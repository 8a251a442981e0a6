import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createHostNetwork, type HostNetwork, until } from "../../test/fakes/host-network.ts";
import type { SessionSpec } from "../ledger.ts";
import { identityOf } from "../system/processes.ts";

let network: HostNetwork;
beforeEach(() => {
  network = createHostNetwork();
});
afterEach(() => network.close());

describe("a session runs", () => {
  test("in a terminal of 80 by 24, with its own name, in its folder", async () => {
    await network.start("a", 'stty size; echo "$PTY_SESSION $TERM $PWD"; tty; exec sleep 100');
    const lines = (await network.untilText("a", "/dev/")).split("\n");
    expect(lines).toEqual([
      "24 80",
      `a xterm-256color ${network.root}`,
      expect.stringMatching(/^\/dev\/(pts|ttys)/),
    ]);
  });

  test("with record, ledger, socket and pid file as promised", async () => {
    const { pid, hostPid } = await network.start("a", "exec sleep 100");
    const paths = network.paths("a");
    await until("the session_start event", () => network.events("a").length > 0);
    const { createdAt, ...record } = network.record("a");
    expect(record).toEqual({
      command: "/bin/sh",
      args: ["-c", "exec sleep 100"],
      displayCommand: "sleep 1",
      cwd: network.root,
      rows: 24,
      cols: 80,
      tags: { role: "agent" },
      daemonPid: hostPid,
    });
    expect(createdAt).toBe(network.ledger("a").launchedAt);
    const { host, child, end } = network.ledger("a");
    expect({ host, child, end }).toEqual({ host: identityOf(hostPid), child: identityOf(pid), end: null });
    expect(readFileSync(paths.pid, "utf8")).toBe(String(hostPid));
    expect(statSync(paths.socket).mode & 0o777).toBe(0o600);
    expect(network.events("a")).toEqual([
      { session: "a", type: "session_start", ts: expect.any(String), tags: { role: "agent" } },
    ]);
  });

  test("in a session and group of its own, with nothing of the launcher's", async () => {
    const { hostPid, pid } = await network.start("a", "exec sleep 100");
    const session = (of: number) =>
      readFileSync(`/proc/${of}/stat`, "utf8").split(") ")[1]!.split(" ").slice(2, 4);
    expect(session(hostPid)).toEqual([String(hostPid), String(hostPid)]);
    expect(session(pid)).toEqual([String(pid), String(pid)]);
    expect(readlinkSync(`/proc/${hostPid}/cwd`)).toBe("/");
    const descriptors = (of: number) =>
      readdirSync(`/proc/${of}/fd`).map((fd) => readlinkSync(`/proc/${of}/fd/${fd}`));
    // A shell that starts opens its libraries for a moment.
    await until("only its terminal", () =>
      descriptors(pid).every((target) => target.startsWith("/dev/pts/")),
    );
    expect(descriptors(hostPid).filter((target) => /^pipe:|\.db|up\.log/.test(target))).toEqual([]);
    const env = readFileSync(`/proc/${hostPid}/environ`, "utf8").split("\0").filter(Boolean);
    expect(env.map((entry) => entry.split("=")[0]!).sort()).toEqual([
      "BUN_GC_TIMER_DISABLE",
      "BUN_JSC_numberOfGCMarkers",
      "BUN_JSC_useConcurrentGC",
      "BUN_JSC_useDFGJIT",
      "HOME",
      "PATH",
    ]);
  });

  test("with the base environment under its own, and nothing of the host's", async () => {
    await network.launch("a", "env | sort > env.tmp; mv env.tmp env.txt; exec sleep 100", {
      baseEnv: { PATH: "/usr/bin:/bin", A: "base", B: "base" },
    });
    const path = join(network.root, "env.txt");
    const text = await until("the environment", () => existsSync(path) && readFileSync(path, "utf8"));
    const names = text.split("\n").filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line) && line !== "");
    const expected = [
      "A=base",
      "B=base",
      "PATH=/usr/bin:/bin",
      "PTY_SESSION=a",
      "ST_AGENT=box.a",
      "TERM=xterm-256color",
    ];
    expect(names).toEqual(expected);
  });
});

describe("a session ends", () => {
  const ends: [string, number, string[]][] = [
    ["echo bye; exit 7", 7, ["bye"]],
    ["exit 0", 0, []],
    ["kill -9 $$", 137, []],
    ["kill -TERM $$", 143, []],
    ["seq 1 300; exit 3", 3, Array.from({ length: 200 }, (_, index) => String(index + 101))],
    ["printf 'a\\033[2;3Hb\\033[2J\\033[Hon screen'; exit 1", 1, ["on screen"]],
  ];
  test.each(ends)("%s", async (script, exitCode, lastLines) => {
    await network.launch("a", script);
    const { end } = await network.untilGone("a");
    expect(end).toEqual({ exitCode, exitedAt: expect.stringMatching(/Z$/), lastLines, error: null });
    const { exitCode: code, exitedAt, lastLines: lines } = network.record("a");
    expect({ code, exitedAt, lines }).toEqual({ code: exitCode, exitedAt: end!.exitedAt!, lines: lastLines });
    expect(network.events("a").map(({ type }) => type)).toEqual(["session_start", "session_exit"]);
    expect([existsSync(network.paths("a").socket), existsSync(network.paths("a").pid)]).toEqual([
      false,
      false,
    ]);
  });

  test("at once, also when it leaves something behind that holds the terminal", async () => {
    await network.start("a", "trap '' HUP; sleep 60 & echo $! > background; echo last; exit 7");
    const began = performance.now();
    const { end } = await network.untilGone("a");
    const background = Number(readFileSync(join(network.root, "background"), "utf8"));
    expect(identityOf(background)).not.toBeNull();
    process.kill(background, "SIGKILL");
    expect({ exitCode: end!.exitCode, lastLines: end!.lastLines }).toEqual({
      exitCode: 7,
      lastLines: ["last"],
    });
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test("when its host is told to: the program hears HUP, then is killed", async () => {
    const polite = await network.start("a", "trap 'exit 5' HUP; while :; do sleep 0.05; done");
    const deaf = await network.start("b", "trap '' HUP; while :; do sleep 0.05; done");
    process.kill(polite.hostPid, "SIGTERM");
    process.kill(deaf.hostPid, "SIGTERM");
    expect((await network.untilGone("a")).end?.exitCode).toBe(5);
    expect((await network.untilGone("b")).end?.exitCode).toBe(137);
  });

  test("and tells those who are connected, then those who come", async () => {
    const { pid } = await network.start("a", "exec sleep 100");
    const watcher = await network.connect("a");
    const ended = watcher.watch();
    const attached = await network.connect("a");
    await attached.send({ kind: "attach", size: { rows: 24, cols: 80 } });
    process.kill(pid, "SIGKILL");
    expect(await ended).toEqual({ exitCode: 137 });
    expect(await attached.ended).toEqual({ exitCode: 137 });
    expect(network.ledger("a").end?.exitCode).toBe(137);
    await network.untilGone("a");
  });

  test("a host that dies takes its program with it, and its watcher knows at once", async () => {
    const { pid, hostPid } = await network.start("a", "exec sleep 100");
    const watcher = await network.connect("a");
    const ended = watcher.watch();
    process.kill(hostPid, "SIGKILL");
    expect(await ended).toEqual({ exitCode: null });
    await until("the program to end", () => identityOf(pid) === null);
    expect(network.ledger("a").end).toBeNull();
  });
});

describe("a session that cannot start", () => {
  const causes: [string, Partial<SessionSpec>, RegExp][] = [
    ["no folder", { cwd: "/nonexistent/folder" }, /^its folder \/nonexistent\/folder is not there$/],
    [
      "no program",
      { command: "no-such-program" },
      /^cannot start no-such-program: not found on the agent's PATH$/,
    ],
    ["a huge variable", { env: { BIG: "x".repeat(200_000) } }, /^cannot start \/bin\/sh: .*E2BIG/],
  ];
  test.each(causes)("%s", async (_, change, message) => {
    const error = expect.stringMatching(message) as unknown as string;
    await network.launch("seed", "exit 0");
    const { spec } = (await network.untilGone("seed")) ?? {};
    const result = await network.launch("a", "", { spec: { ...spec, name: "a", ...change } });
    expect(result).toEqual({ result: "failed", error });
    await network.untilGone("a");
    expect(network.ledger("a").end).toEqual({
      exitCode: null,
      exitedAt: expect.any(String),
      lastLines: [],
      error,
    });
    expect(existsSync(network.paths("a").socket)).toBe(false);
  });

  test("where a folder stands in the socket's place", async () => {
    await Bun.$`mkdir -p ${network.paths("a").socket}/x`.quiet();
    const result = await network.launch("a", "exec sleep 100");
    expect(result).toMatchObject({ result: "failed", error: expect.stringContaining("a.sock") });
  });

  test("a stale socket is no hindrance", async () => {
    writeFileSync(network.paths("a").socket, "");
    await network.start("a", "exec sleep 100");
    expect(statSync(network.paths("a").socket).isSocket()).toBe(true);
  });
});

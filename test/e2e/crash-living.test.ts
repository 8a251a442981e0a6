/** Kills right after each effect while agents are recovered, parked and torn down, and in hosts that heal or leave. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type CrashNet, crashEverywhere, killAgent, type Scenario, untilEnded } from "./crash-kit.ts";
import { DEADLINE_MS, kill, until } from "./kit.ts";

setDefaultTimeout(10 * DEADLINE_MS);

const once: Scenario["act"] = (net, variables) => net.convoy(["up", "--once"], variables);

async function startOne(net: CrashNet, variables: Readonly<Record<string, string>> = {}): Promise<void> {
  net.declare("a");
  await net.once([], variables);
}

const PASS_EFFECTS = ["event-write", "holder-write", "lock-database"];
const WRITE_EFFECTS = ["lock-release", "lock-take", "temporary-remove", "temporary-write"];
const LAUNCH_EFFECTS = ["host-spawn", "ledger-write", "record-write"];
const sorted = (...lists: (readonly string[])[]) => [...new Set(lists.flat())].sort();

test("convoy killed while it recovers an agent", async () => {
  const done = await crashEverywhere({
    thorough: true,
    async prepare(net) {
      await startOne(net);
      await killAgent(net, "a");
    },
    act: once,
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: sorted(PASS_EFFECTS, WRITE_EFFECTS, LAUNCH_EFFECTS), wrong: [] });
});

test("convoy killed while it ends what a dead session left, which does not heed TERM", async () => {
  const done = await crashEverywhere({
    only: ["signal-term", "signal-kill"],
    async prepare(net) {
      net.declare("a", {
        command: "(trap '' TERM HUP; : >$HOME/deafened; exec sleep 99999) & exec agent",
      });
      await net.once();
      await until("the leftover to be", () => existsSync(join(net.home, "deafened")));
      await killAgent(net, "a");
      net.declare("a");
    },
    act: once,
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: ["signal-kill", "signal-term"], wrong: [] });
});

const CAP = ["--fast-fail-limit", "1"];

test("convoy killed while it parks an agent", async () => {
  const done = await crashEverywhere({
    async prepare(net) {
      writeFileSync(join(net.home, "fail"), "");
      net.declare("a");
      for (const _ of ["launch", "respawn"]) {
        await net.once(CAP);
        await untilEnded(net, "a");
      }
    },
    act: (net, variables) => net.convoy(["up", "--once", ...CAP], variables),
    words: CAP,
    codes: [1],
    expected: () => [],
    verify: (net) => (net.isParked("a") ? null : { record: net.record("a"), ledger: net.ledger("a") }),
  });
  expect(done).toEqual({
    effects: sorted(PASS_EFFECTS, WRITE_EFFECTS, ["ledger-write", "record-write"]),
    wrong: [],
  });
});

test("convoy killed while it ends a retired agent", async () => {
  const done = await crashEverywhere({
    async prepare(net) {
      const tables = ["[pty.helper]", 'command = "exec agent"'];
      net.declare("a", { tables });
      await net.once();
      net.declare("a", { tables, lines: ["retired = true"] });
    },
    act: once,
    expected: () => [],
  });
  expect(done).toEqual({
    effects: sorted(PASS_EFFECTS, WRITE_EFFECTS, ["ledger-write", "signal-term"]),
    wrong: [],
  });
});

const LOST = [".json", ".sock", ".pid"];
const isWhole = (net: CrashNet) =>
  LOST.every((suffix) => net.stateFiles().includes(join(net.pty, `box.a${suffix}`)));
const loseFiles = (net: CrashNet) => {
  for (const suffix of LOST) rmSync(join(net.pty, `box.a${suffix}`));
};

test("convoy killed after it told a host of its lost files", async () => {
  const done = await crashEverywhere({
    only: ["signal-nudge"],
    async prepare(net) {
      await startOne(net);
      // Or else it may see for itself.
      for (const pid of net.hosts()) process.kill(pid, "SIGSTOP");
      loseFiles(net);
    },
    act: once,
    async expected(net) {
      for (const pid of net.hosts()) process.kill(pid, "SIGCONT");
      await until("the lost files to be back", () => isWhole(net));
      return ["box.a"];
    },
  });
  expect(done).toEqual({ effects: ["signal-nudge"], wrong: [] });
});

test("a host killed while it puts its files back", async () => {
  const done = await crashEverywhere({
    hosts: true,
    prepare: startOne,
    async act(net) {
      loseFiles(net);
      const host = net.hosts();
      for (const pid of host) process.kill(pid, "SIGWINCH");
      await until("the files or the host", () => isWhole(net) || net.hosts().length === 0);
      return null;
    },
    expected: () => ["box.a"],
  });
  expect(done).toEqual({
    effects: sorted(WRITE_EFFECTS, [
      "ledger-write",
      "pid-write",
      "record-write",
      "socket-bind",
      "socket-remove",
    ]),
    wrong: [],
  });
});

test("a host killed while it writes down its agent's end", async () => {
  const done = await crashEverywhere({
    hosts: true,
    prepare: startOne,
    async act(net) {
      await killAgent(net, "a");
      return null;
    },
    expected: () => ["box.a"],
  });
  expect(done).toEqual({
    effects: sorted(WRITE_EFFECTS, ["event-write", "files-remove", "ledger-write", "record-write"]),
    wrong: [],
  });
});

test("a host killed while it ends its agent", async () => {
  const done = await crashEverywhere({
    hosts: true,
    only: ["signal-hup", "signal-kill"],
    async prepare(net, variables) {
      mkdirSync(join(net.home, "deaf"));
      await startOne(net, variables);
    },
    async act(net) {
      kill(net.ledger("a")?.host?.pid ?? null, "SIGTERM");
      await until("the host to leave", () => net.hosts().length === 0);
      return null;
    },
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: ["signal-hup", "signal-kill"], wrong: [] });
});

test("convoy killed while it tidies what has gathered", async () => {
  const done = await crashEverywhere({
    only: ["folder-mode", "lock-break", "log-rotate", "temporary-remove"],
    async prepare(net) {
      await startOne(net);
      await killAgent(net, "a");
      wearDown(net);
    },
    act: once,
    expected: () => ["box.a"],
  });
  expect(done).toEqual({
    effects: ["folder-mode", "lock-break", "log-rotate", "temporary-remove"],
    wrong: [],
  });
});

test("a host killed while it shortens its session's log", async () => {
  const done = await crashEverywhere({
    hosts: true,
    only: ["log-truncate"],
    prepare(net) {
      net.declare("a");
      writeFileSync(join(net.pty, "box.a.events.jsonl"), '{"session":"box.a","type":"bell"}\n'.repeat(1_100));
    },
    act: once,
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: ["log-truncate"], wrong: [] });
});

/** A long log, an open folder mode, locks of dead processes, and temporary files of killed writers. */
function wearDown(net: CrashNet): void {
  const dead = String(net.deadPid());
  const sessions = join(net.state, "sessions");
  const line = `${JSON.stringify({ ts: "2026-01-01T00:00:00.000Z", type: "warning", message: "x".repeat(1_000) })}\n`;
  writeFileSync(join(net.state, "events.jsonl"), line.repeat(11_000));
  for (const path of [
    join(net.pty, "box.a.lock"),
    join(sessions, "box.a.lock"),
    join(sessions, "box.a.json.lock"),
  ])
    writeFileSync(path, dead);
  for (const folder of [net.pty, net.state, sessions]) {
    const path = join(folder, `box.a.json.tmp.${dead}.0a1b2c3d`);
    writeFileSync(path, "{");
    utimesSync(path, 0, 0);
  }
  chmodSync(net.pty, 0o755);
}

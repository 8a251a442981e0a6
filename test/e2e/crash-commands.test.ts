/** Kills right after each effect of a command, and of a supervisor that starts, works and leaves. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CrashNet, crashEverywhere, KILLED, livesBecome, untilEnded } from "./crash-kit.ts";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(10 * DEADLINE_MS);

const WRITE_EFFECTS = ["lock-release", "lock-take", "temporary-remove", "temporary-write"];
const sorted = (...lists: (readonly string[])[]) => [...new Set(lists.flat())].sort();
const SESSIONS = ["box.a", "box.a.helper", "box.b"];

async function startTwo(net: CrashNet): Promise<void> {
  net.declare("a", { tables: ["[pty.helper]", 'command = "exec agent"'] });
  net.declare("b");
  await net.once();
}

function holds(net: CrashNet): string[] {
  const path = join(net.state, "holds.json");
  return existsSync(path) ? Object.keys(JSON.parse(readFileSync(path, "utf8"))) : [];
}

/** What is not held runs; what is held and had not yet been ended runs on, and nobody ends or doubles it. */
function heldOrRunning(net: CrashNet): string[] {
  const held = holds(net);
  const alive = Object.keys(net.lives());
  return SESSIONS.filter((name) => !held.some((busId) => name.startsWith(busId)) || alive.includes(name));
}

/** Everything runs again once nothing is held. */
async function releaseAll(net: CrashNet): Promise<unknown> {
  const release = await net.convoy(["release"]);
  const { code } = await net.once();
  const all = Object.fromEntries(SESSIONS.map((name) => [name, 1]));
  const good = release.code === 0 && code === 0 && (await livesBecome(net, all));
  return good ? null : { release, code, lives: net.lives() };
}

test("down killed: what it held stays held, a second one ends the rest", async () => {
  const done = await crashEverywhere({
    async prepare(net) {
      writeFileSync(join(net.home, "stubborn"), "");
      await startTwo(net);
    },
    act: (net, variables) => net.convoy(["down", "--grace", "0.2"], variables),
    expected: heldOrRunning,
    verify: releaseAll,
  });
  expect(done).toEqual({
    effects: sorted(WRITE_EFFECTS, [
      "event-write",
      "holds-write",
      "ledger-write",
      "signal-kill",
      "signal-term",
    ]),
    wrong: [],
  });
});

test("down killed while it clears what dead sessions left", async () => {
  const done = await crashEverywhere({
    only: ["files-remove"],
    async prepare(net) {
      await startTwo(net);
      const hosts = net.hosts();
      for (const pid of hosts) kill(pid);
      await until("agents and hosts to end", () => net.processes().length === 0);
    },
    act: (net, variables) => net.convoy(["down"], variables),
    expected: heldOrRunning,
    verify: releaseAll,
  });
  expect(done).toEqual({ effects: ["files-remove"], wrong: [] });
});

test("release killed", async () => {
  const done = await crashEverywhere({
    async prepare(net) {
      await startTwo(net);
      await net.convoy(["down"]);
    },
    act: (net, variables) => net.convoy(["release"], variables),
    expected: heldOrRunning,
    verify: releaseAll,
  });
  expect(done).toEqual({ effects: sorted(WRITE_EFFECTS, ["event-write", "holds-write"]), wrong: [] });
});

test("restart killed: the agent runs, as the old process or a new one", async () => {
  const done = await crashEverywhere({
    prepare: startTwo,
    act: (net, variables) => net.convoy(["restart", "a"], variables),
    expected: () => SESSIONS,
  });
  expect(done).toEqual({
    effects: sorted(WRITE_EFFECTS, [
      "event-write",
      "host-spawn",
      "ledger-write",
      "record-write",
      "signal-term",
    ]),
    wrong: [],
  });
});

test("reset killed: a second one un-parks", async () => {
  const cap = ["--fast-fail-limit", "1"];
  const done = await crashEverywhere({
    async prepare(net) {
      writeFileSync(join(net.home, "fail"), "");
      net.declare("a");
      for (const _ of ["launch", "respawn", "park"]) {
        await net.once(cap);
        await untilEnded(net, "a");
      }
      rmSync(join(net.home, "fail"));
    },
    act: (net, variables) => net.convoy(["reset", "a"], variables),
    words: cap,
    codes: [0, 1],
    expected: (net) => (net.record("a").tags["strategy.status"] === "flapping" ? [] : ["box.a"]),
    async verify(net) {
      const reset = await net.convoy(["reset", "a"]);
      const { code } = await net.once(cap);
      return reset.code === 0 && code === 0 && (await livesBecome(net, { "box.a": 1 }))
        ? null
        : { reset, code };
    },
  });
  expect(done).toEqual({ effects: sorted(WRITE_EFFECTS, ["ledger-write", "record-write"]), wrong: [] });
});

test("forget killed: a second one finishes, and nothing comes back", async () => {
  const done = await crashEverywhere({
    async prepare(net) {
      const file = net.declare("a");
      net.declare("b");
      await net.once();
      await net.convoy(["down", "--agent", "a"]);
      rmSync(file);
    },
    act: (net, variables) => net.convoy(["forget", "a"], variables),
    codes: [0, 1],
    expected: () => ["box.b"],
    async verify(net) {
      const { code, stderr } = await net.convoy(["forget", "a"]);
      net.ageLeftovers();
      await net.once();
      const left = net.stateFiles().filter((path) => path.includes("box.a"));
      return [0, 3].includes(code) && left.length === 0 && holds(net).length === 0
        ? null
        : { code, stderr, left, holds: holds(net) };
    },
  });
  expect(done).toEqual({
    effects: sorted(WRITE_EFFECTS, ["files-remove", "holds-write", "ledger-remove", "record-remove"]),
    wrong: [],
  });
});

/** Supervises until its agent has died and come back, with a command run on the way; then it is asked to leave. */
async function superviseOneDeath(
  net: CrashNet,
  variables: Readonly<Record<string, string>>,
): Promise<{ code: number }> {
  const child = net.spawn(["up", "--on-event", "hook"], variables);
  let ended = false;
  const exited = child.exited.then((code) => {
    ended = true;
    return { code };
  });
  void new Response(child.stdout).text();
  void new Response(child.stderr).text();
  const first = await until("the agent to run", () => ended || net.pid("a"));
  if (typeof first === "number") kill(first);
  await until("the agent to run again, and the hook", () => {
    const pid = net.pid("a");
    return ended || (pid !== null && pid !== first && existsSync(join(net.home, "hooked")));
  });
  if (!ended) child.kill("SIGTERM");
  return await exited;
}

test("a supervisor killed as it runs a command for an event, and as it leaves", async () => {
  const done = await crashEverywhere({
    only: ["hook-spawn", "holder-remove"],
    prepare: (net) => void net.declare("a"),
    act: superviseOneDeath,
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: ["holder-remove", "hook-spawn"], wrong: [] });
});

test("up --detach killed: its supervisor runs or does not, its agent once", async () => {
  const done = await crashEverywhere({
    only: ["log-open", "supervisor-spawn"],
    prepare: (net) => void net.declare("a"),
    act: (net, variables) => net.convoy(["up", "--detach"], variables),
    codes: [0, 4],
    expected: () => ["box.a"],
  });
  expect(done).toEqual({ effects: ["log-open", "supervisor-spawn"], wrong: [] });
});

const ADD = ["add", "worker", "--identity", "new", "--host", "box", "--command", "exec agent"];

test("add killed: the declaration is there, whole, or not", async () => {
  const file = (net: CrashNet) => join(net.catalog, "box/new/agent.toml");
  const done = await crashEverywhere({
    prepare: (net) => void net.declare("a"),
    act: (net, variables) => net.convoy(ADD, variables),
    expected: (net) => (existsSync(file(net)) ? ["box.a", "box.new"] : ["box.a"]),
    async verify(net) {
      const again = await net.convoy([...ADD, "--force"]);
      return again.code === 0 && existsSync(file(net)) ? null : again;
    },
  });
  expect(done).toEqual({ effects: ["catalog-write", "folder-create"], wrong: [] });
});

test("retire killed: the edit is there, whole, or not", async () => {
  const isRetired = (net: CrashNet) =>
    readFileSync(join(net.catalog, "box/a/agent.toml"), "utf8").includes("retired = true");
  const done = await crashEverywhere({
    async prepare(net) {
      net.declare("a");
      await net.once();
    },
    act: (net, variables) => net.convoy(["retire", "a"], variables),
    expected: (net) => (isRetired(net) ? [] : ["box.a"]),
    async verify(net) {
      const again = await net.convoy(["retire", "a"]);
      return again.code === 0 && isRetired(net) ? null : again;
    },
  });
  expect(done).toEqual({ effects: ["catalog-write", "temporary-write"], wrong: [] });
});

test("init killed: a second one makes the rest", async () => {
  const wrong: unknown[] = [];
  for (const at of [1, 2, 3, 4, 5].map((count) => `folder-create:${count}`)) {
    const net = new Net();
    try {
      rmSync(net.root, { recursive: true });
      const killed = await net.convoy(["init"], { CONVOY_TEST_KILL_AFTER: at });
      const again = await net.convoy(["init"]);
      const made = readdirSync(net.root).sort().join();
      if (killed.code !== KILLED || again.code !== 0 || made !== "catalog,pty,smalltalk,worktrees")
        wrong.push({ at, killed, again, made });
    } finally {
      await net.remove();
    }
  }
  expect(wrong).toEqual([]);
});

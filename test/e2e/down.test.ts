/** The one operation that ends sessions: deliberate, previewed, held afterwards. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, isAlive, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

const AGENTS = ["a", "b", "c"];
let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

async function start(): Promise<number[]> {
  for (const identity of AGENTS) net.declare(identity);
  expect((await net.once()).code).toBe(0);
  await until("three agents to say that they run", () => AGENTS.every((one) => net.runs(one).length > 0));
  await net.quiet();
  return Promise.all(AGENTS.map((identity) => net.running(identity)));
}

const holds = (): string[] => {
  const path = join(net.state, "holds.json");
  return existsSync(path) ? Object.keys(JSON.parse(readFileSync(path, "utf8"))).sort() : [];
};

const ALL = ["box.a", "box.b", "box.c"];
const rows = (pids: readonly number[], result: string) =>
  AGENTS.map((identity, index) => ({ identity, session: `box.${identity}`, pid: pids[index], result }));

test("SUP-R14: a dry run says what would be ended and changes not one byte; the real run ends just that", async () => {
  const pids = await start();
  const before = snapshot(net.home);
  const dry = await net.convoy(["down", "--dry-run", "--json"]);
  expect([dry.code, JSON.parse(dry.stdout)]).toEqual([
    0,
    {
      type: "down",
      network: net.root,
      dryRun: true,
      planned: 3,
      stopped: 0,
      failed: 0,
      sessions: rows(pids, "would end"),
    },
  ]);
  expect((await net.convoy(["down", "--dry-run"])).code).toBe(0);
  expect(snapshot(net.home)).toEqual(before);
  expect(pids.map(isAlive)).toEqual([true, true, true]);

  const real = await net.convoy(["down", "--json"]);
  expect([real.code, JSON.parse(real.stdout)]).toMatchObject([
    0,
    { dryRun: false, planned: 3, stopped: 3, failed: 0, sessions: rows(pids, "stopped") },
  ]);
  expect(pids.map(isAlive)).toEqual([false, false, false]);
  await until("nothing of the network to be left", () => net.processes().length === 0);
});

test("SUP-R14: a dry run on a network half dead, and on one with nothing running, changes nothing either", async () => {
  const pids = await start();
  kill(net.ledger("b")?.host?.pid ?? null);
  await until("b to be gone", () => !isAlive(pids[1] ?? 0));
  await net.quiet();
  const half = snapshot(net.home);
  const dry = await net.convoy(["down", "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({
    planned: 2,
    sessions: rows(pids, "would end").filter(({ identity }) => identity !== "b"),
  });
  expect(snapshot(net.home)).toEqual(half);
  await net.convoy(["down"]);
  await until("the hosts to be gone", () => net.processes().length === 0);
  const none = snapshot(net.home);
  expect((await net.convoy(["down", "--dry-run"])).code).toBe(0);
  expect(snapshot(net.home)).toEqual(none);
});

test("SUP-R14: the dead are no failure, and a second `down` is a quiet success", async () => {
  const pids = await start();
  for (const [index, identity] of AGENTS.entries()) {
    kill(net.ledger(identity)?.host?.pid ?? null);
    kill(pids[index] ?? null);
  }
  await until("all to be dead", () => net.processes().length === 0);
  for (let round = 0; round < 2; round += 1) {
    const { code, stdout } = await net.convoy(["down", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { planned: 0, stopped: 0, failed: 0, sessions: [] },
    ]);
  }
  expect(
    AGENTS.flatMap((one) => [`box.${one}.sock`, `box.${one}.pid`]).filter((name) =>
      existsSync(join(net.pty, name)),
    ),
  ).toEqual([]);
  expect(AGENTS.map((one) => net.ledger(one)?.agent)).toEqual(ALL);
});

test("SUP-R14 SUP-R11: what `down` ended stays down beside a running supervisor and for a single pass, until it is released", async () => {
  for (const identity of AGENTS) net.declare(identity);
  const loop = await net.up(["--interval", "0.1"]);
  const pids = await Promise.all(AGENTS.map((identity) => net.running(identity)));
  const { code } = await net.convoy(["down"]);
  expect([code, pids.map(isAlive), holds()]).toEqual([0, [false, false, false], ALL]);
  await until("the supervisor to say who is held", () => net.said("held").length >= 3);
  // Ten ticks of the supervisor, in which nothing may come back.
  await Bun.sleep(1_000);
  expect(AGENTS.map((identity) => net.pid(identity))).toEqual([null, null, null]);
  expect([net.said("respawn"), net.said("death")]).toEqual([[], []]);
  loop.signal("SIGTERM");
  await loop.ended;

  expect(await net.once()).toMatchObject({ code: 0, summary: "held 3" });
  expect(AGENTS.map((identity) => net.pid(identity))).toEqual([null, null, null]);

  const keeping = await net.up(["--keep-holds"]);
  await until("it to say who is held", () => net.said("held").length >= 9);
  expect([holds(), net.said("released")]).toEqual([ALL, []]);
  expect((await net.convoy(["release", "b"])).code).toBe(0);
  const b = await net.running("b");
  expect([holds(), net.pid("a"), net.pid("c")]).toEqual([["box.a", "box.c"], null, null]);
  keeping.signal("SIGTERM");
  await keeping.ended;

  const lifting = await net.up();
  const again = await Promise.all(AGENTS.map((identity) => net.running(identity)));
  expect([again[1], holds()]).toEqual([b, []]);
  expect(net.said("released").map(({ identity }) => identity)).toEqual(["b", "a", "c"]);
  expect(AGENTS.map((identity) => net.said("session_flapping", identity))).toEqual([[], [], []]);
  lifting.signal("SIGTERM");
});

test("SUP-R14: `down --agent` ends and holds one, beside a running supervisor, and no other", async () => {
  const other = new Net();
  try {
    other.declare("b");
    await other.once();
    const foreign = await other.running("b");
    const [a = 0, b = 0, c = 0] = await start();
    await net.up();
    await net.event("adopt", ({ identity }) => identity === "c");
    const { code, stdout } = await net.convoy(["down", "--agent", "b", "--json"]);
    expect([code, JSON.parse(stdout).sessions.map((row: { session: string }) => row.session)]).toEqual([
      0,
      ["box.b"],
    ]);
    await net.event("held");
    expect([net.pid("a"), isAlive(b), net.pid("c"), holds(), isAlive(foreign)]).toEqual([
      a,
      false,
      c,
      ["box.b"],
      true,
    ]);
  } finally {
    await other.remove();
  }
});

test("SUP-R14: a session that does not heed TERM is ended within the grace, with its whole process tree", async () => {
  const marked = `sh -c 'trap "" TERM HUP; while :; do sleep 1; done'`;
  net.declare("a", {
    command: `trap "" TERM; ${marked} & setsid ${marked} & echo up >"$HOME/up"; while :; do sleep 1; done`,
  });
  await net.once();
  const pid = await net.running("a");
  await until("its tree to be there", () => existsSync(join(net.home, "up")) && net.processes().length >= 4);
  const { code } = await net.convoy(["down", "--grace", "0.3"]);
  expect([code, isAlive(pid)]).toEqual([0, false]);
  await until("nothing of it to be left", () => net.processes().length === 0);
});

test("SUP-R14: nothing else ends a session: every other command leaves every agent running", async () => {
  const pids = await start();
  const harmless = [
    ["plan"],
    ["validate"],
    ["ls"],
    ["env"],
    ["init"],
    ["up", "--once"],
    ["up", "--once", "--keep-holds"],
    ["reset", "--all"],
    ["reset", "a"],
    ["release"],
    ["release", "a"],
    ["pretrust", net.home],
    ["forget", "a"],
    ["add", "worker", "--identity", "d", "--command", "exec agent d"],
    ["down", "--dry-run"],
    ["down", "--agent", "nobody"],
    ["down", "--no-such-flag"],
  ];
  const codes = new Map<string, number>();
  for (const words of harmless) codes.set(words.join(" "), (await net.convoy(words)).code);
  expect(AGENTS.map((identity) => net.pid(identity))).toEqual(pids);
  expect([codes.get("down --agent nobody"), codes.get("down --no-such-flag"), codes.get("forget a")]).toEqual(
    [3, 2, 1],
  );
  expect(AGENTS.map((identity) => net.runs(identity).length)).toEqual([1, 1, 1]);
});

/** An agent that types `convoy down <words>` in its own session once it is told to, and notes the exit code. */
const typist = (words: string) =>
  `until [ -e "$HOME/go" ]; do sleep 0.05; done; "${BINARY}" down ${words}; echo $? >"$HOME/code"; exec agent typist`;

test("SUP-R14: typed inside a session that it would end, `down` ends nothing and exits 2", async () => {
  net.declare("typist", { command: typist("") });
  net.declare("a");
  await net.once();
  const pids = [await net.running("typist"), await net.running("a")];
  writeFileSync(join(net.home, "go"), "");
  const code = await until(
    "its exit code",
    () => existsSync(join(net.home, "code")) && readFileSync(join(net.home, "code"), "utf8").trim(),
  );
  expect([code, pids.map(isAlive), holds()]).toEqual(["2", [true, true], []]);
  // About another agent it may be typed anywhere.
  expect((await net.convoy(["down", "--agent", "a"])).code).toBe(0);
});

test("SUP-R14: with --including-self it ends that session too, as the last", async () => {
  net.declare("typist", { command: typist("--including-self") });
  net.declare("a");
  await net.once();
  const [typing, a] = [await net.running("typist"), await net.running("a")];
  writeFileSync(join(net.home, "go"), "");
  await until("both to be gone", () => !isAlive(typing) && !isAlive(a));
  await until("the end of the typist to be written down", () => net.ledger("typist")?.end);
  expect([holds(), net.ledger("typist")?.endedBy]).toEqual([["box.a", "box.typist"], "down"]);
  expect(await net.once()).toMatchObject({ code: 0, summary: "held 2" });
});

test("SUP-R14 SUP-R13: a `down` that is killed before it signals anybody leaves holds, living agents, and nothing that ends them later", async () => {
  const pids = await start();
  const killed = await net.convoy(["down"], { CONVOY_TEST_KILL_AFTER: "holds-write" });
  expect([killed.code, holds()]).toEqual([137, ALL]);
  expect(await net.once()).toMatchObject({ code: 0, summary: "held 3" });
  await net.up();
  for (const identity of AGENTS) await net.event("adopt", (event) => event.identity === identity);
  expect([AGENTS.map((identity) => net.pid(identity)), holds()]).toEqual([pids, []]);
});

/** One supervisor per network, and every agent once, however many are started at the same time. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

const AGENTS = ["a", "b", "c", "d", "e", "f"];
let net: Net;
beforeEach(() => {
  net = new Net();
  for (const identity of AGENTS) net.declare(identity);
});
afterEach(() => net.remove());

const runs = () => AGENTS.map((identity) => net.runs(identity));

/** Every agent has been started, once, and is the process that its ledger names. */
async function expectEachOnce(): Promise<void> {
  const living = await until("six agents to run", () => {
    const found = AGENTS.map((identity) => net.pid(identity));
    return found.every((pid, index) => pid !== null && net.runs(AGENTS[index]!).length > 0) && found;
  });
  expect(runs()).toEqual(living.map((pid) => [pid ?? 0]));
}

/** The pid in holder.json, once there is one. */
function holder(): number | null {
  const path = join(net.state, "holder.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).pid : null;
}

async function startTen() {
  const children = Array.from({ length: 10 }, () => net.spawn(["up", "--once"]));
  const ended = children.map(async (child) => {
    const [stderr] = await Promise.all([
      new Response(child.stderr).text(),
      new Response(child.stdout).text(),
    ]);
    return { pid: child.pid, code: await child.exited, stderr };
  });
  return { pids: children.map((child) => child.pid), ended };
}

test("SUP-R04 SUP-R09: ten simultaneous `up --once` start every agent exactly once", async () => {
  const { pids, ended } = await startTen();
  const results = await Promise.all(ended);
  await expectEachOnce();
  // One that comes when the winner has done its pass makes a pass of its own, and finds nothing to do.
  expect(results.filter(({ code }) => code !== 0 && code !== 4)).toEqual([]);
  const losers = results.filter(({ code }) => code === 4);
  expect(losers.length).toBeGreaterThan(0);
  for (const { pid, stderr } of losers) {
    const named = Number(/^convoy: the supervisor with pid (\d+) holds /.exec(stderr)?.[1]);
    expect([pid, pids.includes(named) && named !== pid]).toEqual([pid, true]);
  }
});

test("SUP-R04 SUP-A01: while one `up --once` is at work, nine others exit 4 and name it", async () => {
  const first = net.spawn(["up", "--once"]);
  const pid = await until("the first to hold the network", holder);
  first.kill("SIGSTOP");
  expect(pid).toBe(first.pid);
  const others = await Promise.all(Array.from({ length: 9 }, () => net.convoy(["up", "--once"])));
  const refusal = `convoy: the supervisor with pid ${pid} holds ${net.root}\n  next: convoy ls --network ${net.root}, or end it (its agents live on): kill ${pid}\n`;
  expect(others).toEqual(Array.from({ length: 9 }, () => ({ code: 4, stdout: "", stderr: refusal })));
  first.kill("SIGCONT");
  expect(await first.exited).toBe(0);
  await expectEachOnce();
});

test("SUP-R04 SUP-R05: beside a running supervisor neither `up` nor `up --once` gets in, and nothing is launched twice", async () => {
  const { pid } = await net.up();
  await expectEachOnce();
  for (const words of [["up"], ["up", "--once"], ["up", "--detach"]]) {
    const { code, stderr } = await net.convoy(words);
    expect([code, stderr.includes(`the supervisor with pid ${pid} holds ${net.root}`)]).toEqual([4, true]);
  }
  await expectEachOnce();
});

for (const effect of ["ledger-write:1", "record-write:1", "host-spawn:1", "host-spawn:4", "ledger-write:9"])
  test(`SUP-R09 SUP-R13: a supervisor killed right after ${effect} blocks nobody, and nothing is started twice`, async () => {
    expect((await net.convoy(["up", "--once"], { CONVOY_TEST_KILL_AFTER: effect })).code).toBe(137);
    // A host that was just born may not have said yet whether it lives: then that pass leaves it alone.
    await until("a pass that is content", () => net.once().then(({ code }) => code === 0));
    await expectEachOnce();
  });

test("SUP-R13: the lock of a supervisor that is killed outright is free at once", async () => {
  for (let round = 0; round < 3; round += 1) {
    const { pid, ended } = await net.up();
    kill(pid);
    await ended;
  }
  expect((await net.once()).code).toBe(0);
  await expectEachOnce();
});

test("of two that supervise because somebody removed the lock's files, the first steps aside", async () => {
  const first = await net.up(["--interval", "1"]);
  await expectEachOnce();
  first.signal("SIGSTOP");
  for (const file of ["lock.db", "holder.json"]) rmSync(join(net.state, file));
  const second = await net.up();
  first.signal("SIGCONT");
  expect(await first.ended).toBe(4);
  expect(await until("its last words", first.stderr)).toContain(
    `the supervisor with pid ${second.pid} holds`,
  );
  expect(holder()).toBe(second.pid);
  await expectEachOnce();
});

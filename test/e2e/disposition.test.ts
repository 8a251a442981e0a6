/** What a pass decides about every declared agent: one of four dispositions, by host, and only the difference is acted on. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEADLINE_MS, HOST, isAlive, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

/** `identity disposition blocked` of every row. */
async function rows(): Promise<string[]> {
  const { agents } = await net.plan();
  return agents.map((row) => [row.identity, row.disposition, row.blocked ?? "-"].join(" "));
}

test("SUP-R01 SUP-R02: every declared agent has exactly one disposition, in `plan` and in the pass that follows", async () => {
  net.declare("kept");
  net.declare("gone");
  expect((await net.once()).summary).toBe("launched 2");
  net.declare("new");
  net.declare("gone", { lines: ["retired = true"] });
  net.declare("never", { lines: ["retired = true"] });
  net.declare("foreign", { host: "elsewhere" });
  net.declare("lost", { lines: ['workspace = "/cv-no-such-folder"'] });
  const lists = {
    launch: ["new"],
    teardown: ["gone"],
    adopt: ["kept"],
    otherHost: ["foreign"],
  };
  const planned = await net.plan();
  expect(planned).toMatchObject(lists);
  expect(await rows()).toEqual([
    "foreign otherHost -",
    "gone teardown -",
    "kept adopt -",
    "lost launch waiting",
    "never teardown -",
    "new launch -",
  ]);
  const { code, events, summary } = await net.once();
  const { ts: _, ...said } = events.find((event) => event.type === "plan") ?? { ts: "" };
  expect(said).toEqual(planned);
  expect([code, summary]).toEqual([1, "launched 1, adopted 1, torndown 1, waiting 1"]);
  expect(await rows()).toEqual([
    "foreign otherHost -",
    "gone teardown -",
    "kept adopt -",
    "lost launch waiting",
    "never teardown -",
    "new adopt -",
  ]);
});

test("SUP-R01 SUP-R11: only the difference is acted on: the one that died is launched, the others keep their processes", async () => {
  const agents = ["a", "b", "c", "d"];
  for (const identity of agents) net.declare(identity);
  await net.once();
  const before = agents.map((identity) => net.pid(identity));
  kill(before[1] ?? null);
  await until("the end of b to be written down", () => net.ledger("b")?.end);
  expect(await net.plan()).toMatchObject({ launch: ["b"], adopt: ["a", "c", "d"], teardown: [] });
  expect((await net.once()).summary).toBe("launched 1, adopted 3");
  const after = await Promise.all(agents.map((identity) => net.running(identity)));
  expect(after.map((pid, index) => pid === before[index])).toEqual([true, false, true, true]);
});

test("SUP-R03: planning and validating change not one byte, and start nothing", async () => {
  net.declare("a");
  net.declare("b", { lines: ["retired = true"] });
  net.declare("c", { host: "elsewhere" });
  const fresh = snapshot(net.home);
  await net.plan();
  expect(snapshot(net.home)).toEqual(fresh);
  await net.once();
  net.declare("d");
  kill(net.pid("a"));
  await until("the end of a to be written down", () => net.ledger("a")?.end);
  await until("its host to be gone", () => net.processes().length === 0);
  const half = snapshot(net.home);
  expect(await net.plan()).toMatchObject({ launch: ["a", "d"] });
  expect((await net.convoy(["plan", "--detailed-exitcode"])).code).toBe(2);
  expect(snapshot(net.home)).toEqual(half);
  expect(net.processes()).toEqual([]);
});

test("SUP-R04: ten passes with nothing changed do nothing, and every agent stays the same process", async () => {
  const agents = ["a", "b", "c"];
  for (const identity of agents) net.declare(identity);
  await net.once();
  const before = agents.map((identity) => net.pid(identity));
  await net.quiet();
  const still = () => [snapshot(join(net.pty, ".convoy", "sessions")), snapshot(net.catalog)];
  const files = still();
  for (let pass = 1; pass <= 10; pass += 1) {
    const { code, events, summary } = await net.once();
    expect([code, summary]).toEqual([0, "adopted 3"]);
    expect(events.map((event) => event.type)).toEqual(["plan", "adopt", "adopt", "adopt", "once_summary"]);
  }
  expect((await net.convoy(["plan", "--detailed-exitcode"])).code).toBe(0);
  expect(agents.map((identity) => net.pid(identity))).toEqual(before);
  expect(agents.map((identity) => net.runs(identity).length)).toEqual([1, 1, 1]);
  expect(still()).toEqual(files);
});

test("SUP-R04 SUP-R05: ten passes of the loop adopt without a second action", async () => {
  net.declare("a");
  await net.once();
  const pid = net.pid("a");
  const before = net.events().length;
  await net.up(["--interval", "0.1"]);
  await net.event("adopt", (event) => event.identity === "a", before);
  // Nothing is said of a pass that does nothing: a second of ticks is what there is to wait for.
  await Bun.sleep(1_000);
  const said = net.events().slice(before);
  expect(said.map((event) => event.type)).toEqual(["up", "plan", "adopt"]);
  expect([net.pid("a"), net.runs("a")]).toEqual([pid, [pid ?? 0]]);
});

test("SUP-R05: the loop and a single pass make the same plan and the same launches from the same state", async () => {
  const told = async (run: (other: Net) => Promise<unknown>) => {
    const other = new Net();
    try {
      other.declare("a");
      other.declare("b", { lines: ["retired = true"] });
      other.declare("c", { host: "elsewhere" });
      other.declare("d", { lines: ['workspace = "/cv-no-such-folder"'] });
      await run(other);
      await other.event("launch");
      const said = other.events().filter(({ type }) => !["up", "once_summary", "pretrust"].includes(type));
      return JSON.stringify(said, (key, value) =>
        ["ts", "network", "pid", "hostPid"].includes(key) ? undefined : value,
      );
    } finally {
      await other.remove();
    }
  };
  const looped = await told((other) => other.up());
  expect(looped).toBe(await told((other) => other.once()));
  expect(looped).toContain('"launch":["a"]');
});

test("SUP-R06: a host is matched by its first label in lower case, and no host means this machine", async () => {
  for (const host of ["box", "Box", "BOX", "box.local", "Box.Example.COM"]) {
    const identity = `by-${host.toLowerCase().replaceAll(".", "-")}${host === "box" ? "" : host.charCodeAt(1)}`;
    net.declare(identity, { host, path: `${identity}.toml` });
  }
  net.declare("unsaid", { host: null, path: "unsaid.toml" });
  net.declare("other", { host: "boxer", path: "other.toml" });
  const { launch, otherHost } = await net.plan();
  expect([launch.length, otherHost]).toEqual([6, ["other"]]);
  expect((await net.once()).code).toBe(0);
  expect(net.ledger("unsaid")?.agent).toBe(`${HOST}.unsaid`);
});

test("SUP-R06: a machine whose name has capitals and a domain runs what is declared for its short lower-case name", async () => {
  net.declare("a", { host: "silber" });
  net.declare("b", { host: "Silber.local" });
  const { code, summary } = await net.once([], { CONVOY_HOST: "Silber.example.com" });
  expect([code, summary]).toEqual([0, "launched 2"]);
});

test("SUP-R07 SUP-A01: another host's agents are deferred: not launched, not ended, no problem", async () => {
  net.declare("a", { host: "elsewhere" });
  net.declare("b", { host: "elsewhere", lines: ["retired = true"] });
  const { code, events, summary, stderr } = await net.once();
  expect([code, summary, stderr]).toEqual([0, "", ""]);
  const plan = events.find((event) => event.type === "plan");
  expect(plan).toMatchObject({ launch: [], teardown: [], adopt: [], otherHost: ["a", "b"], problems: [] });
  expect(net.processes()).toEqual([]);
  // The machine that it names launches it once the catalog is there, without a word to this one.
  const there = await net.once([], { CONVOY_HOST: "elsewhere" });
  expect([there.code, there.summary]).toEqual([0, "launched 1"]);
});

test("SUP-R07: an agent that was moved by an edit keeps running here, is named with the command that ends it, and is not recovered", async () => {
  net.declare("a", { path: "a.toml" });
  await net.once();
  const pid = await net.running("a");
  net.declare("a", { path: "a.toml", host: "elsewhere" });
  const [row] = (await net.plan()).agents;
  expect(row).toMatchObject({ disposition: "otherHost", blocked: null });
  expect(row?.reason).toContain(`still runs here (pid ${pid}), to end it: convoy down --agent a`);
  const moved = await net.once();
  expect([moved.code, moved.summary, isAlive(pid)]).toEqual([0, "", true]);
  const { code } = await net.convoy(["down", "--agent", "a"]);
  expect([code, isAlive(pid)]).toEqual([0, false]);
  expect((await net.once()).summary).toBe("");
  expect(net.runs("a")).toEqual([pid]);
});

test("SUP-R08: in a running loop a retired edit ends the agent within seconds, and it is never launched again", async () => {
  const file = net.declare("a");
  net.declare("b");
  await net.up();
  const [a, b] = [await net.running("a"), await net.running("b")];
  const edited = performance.now();
  net.declare("a", { lines: ["retired = true", 'strategy = "permanent"'] });
  await until("a to be gone", () => !isAlive(a));
  expect(performance.now() - edited).toBeLessThan(10_000);
  expect(await net.event("retire")).toMatchObject({ identity: "a", result: "stopped" });
  await until("the plan without it", async () => (await net.plan()).teardown.length === 0);
  expect(await rows()).toEqual(["a teardown -", "b adopt -"]);
  // An edit of another file makes a pass, in which a stays down.
  net.declare("c");
  await net.running("c");
  expect([net.runs("a"), net.pid("b"), net.said("respawn"), net.said("death")]).toEqual([[a], b, [], []]);
  // Retirement is an edit, and so is its end.
  writeFileSync(
    file,
    `host = "box"\nidentity = "a"\nrole = "worker"\n[pty.agent]\ncommand = "exec agent a"\n`,
  );
  await net.running("a", a);
});

test("SUP-R08: a retired agent is ended by a single pass too, and by its retirement alone: neither a held nor a batch one is launched", async () => {
  net.declare("a");
  net.declare("batch", { lines: ['strategy = "batch"'] });
  await net.once();
  const pids = [await net.running("a"), await net.running("batch")];
  net.declare("a", { lines: ["retired = true"] });
  net.declare("batch", { lines: ["retired = true", 'strategy = "batch"'] });
  expect(await net.once()).toMatchObject({ code: 0, summary: "torndown 2" });
  expect(pids.map(isAlive)).toEqual([false, false]);
  expect(await net.once()).toMatchObject({ code: 0, summary: "" });
});

test("SUP-R02 SUP-R08: a clash of two files freezes the agent: not launched, not retired, and recovered as it was", async () => {
  net.declare("a");
  await net.once();
  const pid = await net.running("a");
  const copy = net.declare("a", { path: "box/copy/agent.toml", lines: ["retired = true"] });
  net.declare("never", { path: "box/one/agent.toml" });
  net.declare("never", { path: "box/two/agent.toml" });
  const { code, events } = await net.once();
  expect([code, net.pid("a"), net.runs("never")]).toEqual([1, pid, []]);
  expect(await rows()).toEqual(["a adopt conflict", "never launch conflict"]);
  const errors = events.filter((event) => event.type === "catalog_error");
  expect(errors.map((event) => event.path)).toEqual([
    "box/a/agent.toml",
    "box/copy/agent.toml",
    "box/one/agent.toml",
    "box/two/agent.toml",
  ]);
  kill(pid);
  await until("the end of a to be written down", () => net.ledger("a")?.end);
  expect((await net.once()).code).toBe(1);
  await net.running("a", pid);
  rmSync(copy);
  await until("a to be no conflict", async () => (await rows())[0] === "a adopt -");
});

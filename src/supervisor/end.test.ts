import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import process from "node:process";
import { ProcessTrees, until } from "../../test/support/process-trees.ts";
import { systemClock } from "../system/clock.ts";
import { identityOf, type ProcessRow, processTable } from "../system/processes.ts";
import { type EndPorts, type EndSignal, type EndTarget, endSessions } from "./end.ts";
import { findLeftovers } from "./process-scan.ts";

const BOOT = processTable.boot();
let trees: ProcessTrees;
let signals: [pid: number, signal: EndSignal][] = [];
const ports: EndPorts = {
  table: processTable,
  clock: systemClock,
  signal(pid, signal) {
    signals.push([pid, signal]);
    process.kill(pid, signal);
  },
};

beforeEach(() => {
  trees = new ProcessTrees();
  signals = [];
});

afterEach(() => trees.endAll());

function target(session: string, members: Partial<EndTarget> = {}): EndTarget {
  return { session, stRoot: trees.stRoot, host: null, child: null, boot: BOOT, ...members };
}

const end = (
  targets: EndTarget[],
  graceMs = 5_000,
  more: { keepPids?: number[]; hostLeaveMs?: number } = {},
) => endSessions(targets, { graceMs, ...more }, ports);

describe("endSessions", () => {
  test("nothing to end", async () => {
    expect(await end([])).toEqual([]);
  });

  test("a whole tree: shell, program, background child, setsid child, double-forked child deaf to HUP", async () => {
    const child = await trees.startAgent(
      "box.a",
      `sh -c 'sleep 300 & setsid sleep 301 & (trap "" HUP; setsid sleep 302 &) ; echo ready; wait'; :`,
    );
    await until(() => trees.marked().length === 5);
    expect(await end([target("box.a", { child })])).toEqual([
      { session: "box.a", pid: child.pid, result: "stopped", survivors: [] },
    ]);
    expect(trees.marked()).toEqual([]);
    expect(signals.filter(([, signal]) => signal === "SIGKILL")).toEqual([]);
  });

  test("a living host is not signalled and leaves by itself", async () => {
    const { host, child } = await trees.startHost("box.a", "echo ready; exec sleep 300");
    const [result] = await end([target("box.a", { host, child })]);
    expect(result).toEqual({ session: "box.a", pid: child.pid, result: "stopped", survivors: [] });
    expect(signals).toEqual([[child.pid, "SIGTERM"]]);
    expect(identityOf(host.pid)).toBeNull();
  });

  test("a host whose agent it has not reported yet: what is below it is ended", async () => {
    const { host, child } = await trees.startHost("box.a", "echo ready; exec sleep 300");
    const [result] = await end([target("box.a", { host })]);
    expect(result).toEqual({ session: "box.a", pid: null, result: "stopped", survivors: [] });
    expect(signals).toEqual([[child.pid, "SIGTERM"]]);
  });

  test("a stopped host is killed once its agent is dead; the zombie below it counts as dead", async () => {
    const { host, child } = await trees.startHost("box.a", "echo ready; exec sleep 300");
    process.kill(host.pid, "SIGSTOP");
    const [result] = await end([target("box.a", { host, child })], 100, { hostLeaveMs: 100 });
    expect(result).toEqual({ session: "box.a", pid: child.pid, result: "stopped", survivors: [] });
    expect(signals).toEqual([
      [child.pid, "SIGTERM"],
      [host.pid, "SIGKILL"],
    ]);
  });

  test("what ignores TERM gets KILL after the grace, with what it keeps starting", async () => {
    const child = await trees.startAgent("box.a", "trap '' TERM; echo ready; while :; do sleep 0.02; done");
    const started = performance.now();
    const [result] = await end([target("box.a", { child })], 200);
    expect(result?.result).toBe("stopped");
    expect(performance.now() - started).toBeGreaterThanOrEqual(200);
    expect(signals).toContainEqual([child.pid, "SIGKILL"]);
    expect(trees.marked()).toEqual([]);
  });

  test("what is started on the way out is found too", async () => {
    const child = await trees.startAgent(
      "box.a",
      "trap 'setsid sleep 300 & exit' TERM; echo ready; while :; do sleep 0.02; done",
    );
    expect((await end([target("box.a", { child })]))[0]?.result).toBe("stopped");
    expect(trees.marked()).toEqual([]);
  });

  test("already dead is no failure, and says so at once", async () => {
    const child = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    process.kill(child.pid, "SIGKILL");
    await until(() => identityOf(child.pid) === null);
    expect(await end([target("box.a", { child }), target("box.never")])).toEqual([
      { session: "box.a", pid: child.pid, result: "already-dead", survivors: [] },
      { session: "box.never", pid: null, result: "already-dead", survivors: [] },
    ]);
    expect(signals).toEqual([]);
  });

  test("a recycled pid is never signalled: other start, or other boot", async () => {
    const bystander = await trees.startBystander("echo ready; exec sleep 300");
    const stale = { pid: bystander.pid, start: `${bystander.start}0` };
    const results = await end([
      target("box.a", { child: stale, host: stale }),
      target("box.b", { child: bystander, boot: "another boot" }),
    ]);
    expect(results.map((row) => row.result)).toEqual(["already-dead", "already-dead"]);
    expect(signals).toEqual([]);
    expect(identityOf(bystander.pid)).toEqual(bystander);
  });

  test("a bystander that a ledger names, birth and boot right, shows nothing of the session: never signalled", async () => {
    const bystander = await trees.startBystander("sleep 300 & echo ready; wait");
    await until(() => trees.marked().length === 2);
    const { host, child } = await trees.startHost("box.d", "echo ready; exec sleep 301");
    const results = await end(
      [
        target("box.a", { child: bystander }),
        target("box.b", { host: bystander }),
        target("box.c", { host: bystander, child: bystander }),
        target("box.d", { host, child: bystander }),
        target("box.e", { child: { ...child } }),
      ],
      50,
      { hostLeaveMs: 50 },
    );
    expect(results.map((row) => [row.session, row.result])).toEqual([
      ["box.a", "unknown"],
      ["box.b", "unknown"],
      ["box.c", "unknown"],
      ["box.d", "unknown"],
      ["box.e", "unknown"],
    ]);
    expect(signals).toEqual([]);
    expect([bystander, host, child].map(({ pid }) => identityOf(pid))).toEqual([bystander, host, child]);
  });

  test("the first process is nobody's host: it and what is below it live on", async () => {
    const first = identityOf(1);
    const [result] = await end([target("box.a", { host: first })], 0, { hostLeaveMs: 0 });
    expect(result).toMatchObject({ result: "survived", survivors: [{ pid: 1, problem: null }] });
    expect(signals).toEqual([]);
  });

  test("neither the first process nor this one nor one above it is ever signalled", async () => {
    const pids = [1, process.pid, process.ppid];
    const results = await end(
      pids.map((pid) => target(`box.${pid}`, { child: identityOf(pid) })),
      0,
    );
    expect(results.map((row) => [row.result, row.survivors.map((survivor) => survivor.pid)])).toEqual(
      pids.map((pid) => ["survived", [pid]]),
    );
    expect(signals).toEqual([]);
  });

  test("a process that may not be looked at is unknown, and left alone", async () => {
    const child = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    const table = {
      ...processTable,
      row: (pid: number) => (pid === child.pid ? "hidden" : processTable.row(pid)),
    };
    const [result] = await endSessions(
      [target("box.a", { child })],
      { graceMs: 0 },
      {
        ...ports,
        table: table as typeof processTable,
      },
    );
    expect(result).toEqual({ session: "box.a", pid: child.pid, result: "unknown", survivors: [] });
    expect(signals).toEqual([]);
  });

  test("what may not be signalled is named, without waiting for the grace", async () => {
    const child = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    await trees.untilAsleep(child.pid);
    const refuse = () => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    };
    const started = performance.now();
    const [result] = await endSessions(
      [target("box.a", { child })],
      { graceMs: 5_000 },
      { ...ports, signal: refuse },
    );
    expect(result).toEqual({
      session: "box.a",
      pid: child.pid,
      result: "survived",
      survivors: [{ pid: child.pid, name: "sleep", problem: "not permitted to signal it" }],
    });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test("what outlives KILL is named", async () => {
    const child = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    await trees.untilAsleep(child.pid);
    const deaf = (pid: number, signal: EndSignal) => signals.push([pid, signal]);
    const [result] = await endSessions(
      [target("box.a", { child })],
      { graceMs: 20, hostLeaveMs: 0 },
      { ...ports, signal: deaf },
    );
    expect(result?.survivors).toEqual([{ pid: child.pid, name: "sleep", problem: null }]);
    expect(signals).toEqual([
      [child.pid, "SIGTERM"],
      [child.pid, "SIGKILL"],
    ]);
  }, 10_000);

  test("a network that the agent started, and what is to be kept, live on", async () => {
    const agentB = `env ${trees.marker} OTHER=1 PTY_SESSION=box.b ST_ROOT=/o/smalltalk sleep 301`;
    const hostB = `env -i PATH=/usr/bin:/bin ${trees.marker} OTHER=1 sh -c '${agentB}; :'`;
    const kept = "env KEPT=1 sh -c 'env -u PTY_SESSION sleep 302; :'";
    const child = await trees.startAgent("box.a", `${hostB} & ${kept} & echo ready; sleep 300; :`);
    const saying = (text: string) =>
      trees.marked().filter((row) => processTable.environment(row.pid)?.includes(text));
    const names = (rows: ProcessRow[]) => rows.map((row) => row.name).sort();
    await until(
      () => [...saying("OTHER=1"), ...saying("KEPT=1")].filter((row) => row.name === "sleep").length === 2,
    );
    const supervisor = saying("KEPT=1").find((row) => row.name === "sh");
    const [result] = await end([target("box.a", { child })], 5_000, { keepPids: [supervisor?.pid ?? 0] });
    expect(result?.result).toBe("stopped");
    expect(names(saying("OTHER=1"))).toEqual(["sh", "sleep"]);
    expect(names(saying("KEPT=1"))).toEqual(["sh", "sleep"]);
    expect(trees.marked().length).toBe(4);
  });

  test("fifty at once, and only the ones that were named", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `box.a${index}`);
    const started = await Promise.all(
      names.map((name) => trees.startHost(name, "echo ready; exec sleep 300")),
    );
    const bystander = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    const from = performance.now();
    const results = await end(names.map((name, index) => target(name, started[index])));
    expect(performance.now() - from).toBeLessThan(1_500);
    expect(results.map((row) => row.result)).toEqual(names.map(() => "stopped"));
    expect(trees.marked().map((row) => row.pid)).toEqual([bystander.pid]);
  }, 20_000);
});

describe("findLeftovers", () => {
  test("what a dead agent left, by its mark, and its end by the same routine", async () => {
    const child = await trees.startAgent("box.a", "setsid sleep 300 & echo ready; wait");
    await until(() => trees.marked().some((row) => row.name === "sleep"));
    process.kill(child.pid, "SIGKILL");
    await until(() => identityOf(child.pid) === null);
    const targets = [target("box.a", { child }), target("box.b")];
    const left = findLeftovers(targets, {}, processTable);
    expect(left.map(({ session, processes }) => [session, processes.map((row) => row.name)])).toEqual([
      ["box.a", ["sleep"]],
      ["box.b", []],
    ]);
    expect((await end(targets)).map((row) => row.result)).toEqual(["stopped", "already-dead"]);
    expect(findLeftovers(targets, {}, processTable).flatMap((row) => row.processes)).toEqual([]);
    expect(trees.marked()).toEqual([]);
  });
});

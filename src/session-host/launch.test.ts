import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import process from "node:process";
import { createHostNetwork, type HostNetwork, until } from "../../test/fakes/host-network.ts";
import { identityOf } from "../system/processes.ts";
import { hostEnvironment } from "./launch.ts";

let network: HostNetwork;
beforeEach(() => {
  network = createHostNetwork();
});
afterEach(() => network.close());

describe("the last look", () => {
  test("refuses what is held, alive, or unknown, and writes nothing", async () => {
    network.held.add("box.a");
    expect(await network.launch("a", "exit 0")).toEqual({ result: "refused", reason: "held" });
    network.held.clear();
    for (const reason of ["alive", "unknown"] as const) {
      network.setLook(reason);
      expect(await network.launch("a", "exit 0")).toEqual({ result: "refused", reason });
    }
    expect([existsSync(network.paths("a").record), network.files.readLedger("a")]).toEqual([false, null]);
  });

  test("is under the launch lock: two launches at once start one program", async () => {
    const launch = () => network.launch("a", "exec sleep 100");
    const first = launch();
    await until("the first ledger", () => network.files.readLedger("a") !== null);
    network.setLook("alive");
    const results = [await first, await launch()];
    expect(results.map(({ result }) => result).sort()).toEqual(["refused", "started"]);
  });
});

describe("a relaunch", () => {
  test("keeps the base environment, other tags and other writers' members, and the earlier ends", async () => {
    await network.launch("a", "echo first; exit 4", { tags: { note: "kept", role: "other" } });
    await network.untilGone("a");
    await network.files.changeRecord("a", (record) => ({
      ...record!,
      displayName: "Mine",
      unheard: { of: 1 },
    }));
    const first = network.ledger("a");
    await network.launch("a", "exec sleep 100", { baseEnv: { ANOTHER: "shell" }, tags: { note: "kept" } });
    const { end, previous, restarts, baseEnv, tags, launchId } = network.ledger("a");
    expect({ end, previous, restarts, baseEnv, tags }).toEqual({
      end: null,
      previous: [first.end!],
      restarts: 1,
      baseEnv: first.baseEnv,
      tags: { note: "kept", role: "agent" },
    });
    expect(launchId).not.toBe(first.launchId);
    expect(first.end?.lastLines).toEqual(["first"]);
    await until("the record", () => network.record("a").daemonPid !== undefined);
    const record = network.record("a");
    expect(record).toMatchObject({
      displayName: "Mine",
      unheard: { of: 1 },
      tags: { note: "kept", role: "agent" },
    });
    expect([record.exitCode, record.exitedAt, record.lastLines]).toEqual([undefined, undefined, undefined]);
  });

  test("takes a fresh environment when it is asked to, and remembers five ends", async () => {
    for (let code = 1; code <= 7; code++) {
      await network.launch("a", `exit ${code}`, {
        freshEnv: true,
        baseEnv: { PATH: "/usr/bin:/bin", RUN: `${code}` },
      });
      await network.untilGone("a");
    }
    const { previous, end, restarts, baseEnv } = network.ledger("a");
    expect(previous.map(({ exitCode }) => exitCode)).toEqual([6, 5, 4, 3, 2]);
    expect([end?.exitCode, restarts, baseEnv.RUN]).toEqual([7, 6, "7"]);
  }, 20_000);

  test("after a vanished run notes an end that nobody saw", async () => {
    const { hostPid, pid } = await network.start("a", "exec sleep 100");
    process.kill(hostPid, "SIGKILL");
    await until("both to end", () => identityOf(hostPid) === null && identityOf(pid) === null);
    await network.start("a", "exec sleep 100");
    expect(network.ledger("a").previous).toEqual([
      { exitCode: null, exitedAt: null, lastLines: [], error: null },
    ]);
  });
});

test("many launches at once all succeed", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const started = await Promise.all(names.map((name) => network.start(name, "exec sleep 100")));
  expect(new Set(started.map(({ pid }) => pid)).size).toBe(20);
}, 30_000);

test("a session whose socket path is too long is refused before anything is written", async () => {
  const name = "n".repeat(103 - network.registry.length - 6);
  expect((await network.launch(`${name}x`, "exit 0")).result).toBe("failed");
  expect(existsSync(network.paths(`${name}x`).record)).toBe(false);
  expect((await network.launch(name, "exec sleep 100")).result).toBe("started");
});

test("a host gets of the launcher's environment only what it needs", () => {
  expect(
    hostEnvironment({ PATH: "/bin", HOME: "/h", SECRET: "x", CONVOY_TEST_HOST_KILL_AFTER: "pid-write" }),
  ).toEqual({
    BUN_GC_TIMER_DISABLE: "1",
    BUN_JSC_useConcurrentGC: "0",
    BUN_JSC_numberOfGCMarkers: "1",
    BUN_JSC_useDFGJIT: "0",
    CONVOY_TEST_KILL_AFTER: "pid-write",
    HOME: "/h",
    PATH: "/bin",
  });
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ProcessTrees, until } from "../../test/support/process-trees.ts";
import type { Ledger } from "../ledger.ts";
import type { ObservedSession } from "../session.ts";
import { systemClock } from "../system/clock.ts";
import { identityOf, processTable } from "../system/processes.ts";
import { createEnder, endTargetOf } from "./ender.ts";

const BOOT = processTable.boot();
let trees: ProcessTrees;
beforeEach(() => {
  trees = new ProcessTrees();
});
afterEach(() => trees.endAll());

function ender(stRoot = trees.stRoot) {
  const signal = (pid: number, name: "SIGTERM" | "SIGKILL") => process.kill(pid, name);
  return createEnder({ stRoot, keepPids: () => [] }, { table: processTable, clock: systemClock, signal });
}

function observed(name: string, members: Partial<ObservedSession> = {}): ObservedSession {
  return {
    name,
    status: "running",
    process: "ours",
    processAlive: true,
    pid: null,
    exitCode: null,
    exitedAt: null,
    tags: {},
    command: "sh",
    args: [],
    ...members,
  };
}

function ledger(members: Pick<Ledger, "host" | "child" | "boot">): Ledger {
  return members as Ledger;
}

describe("endTargetOf", () => {
  const host = { pid: 10, start: "h" };
  const child = { pid: 11, start: "c" };

  test("a session of ours: as its ledger says", () => {
    const session = observed("a", {
      pid: 10,
      host: "ours",
      childPid: 11,
      child: "ours",
      ledger: ledger({ host, child, boot: BOOT }),
    });
    expect(endTargetOf(session, "/n/s", processTable)).toEqual({
      session: "a",
      stRoot: "/n/s",
      host,
      child,
      boot: BOOT,
    });
  });

  test("one that another program restarted: as it was observed, not as the ledger of the run before", () => {
    const living = identityOf(process.pid);
    const session = observed("a", {
      pid: process.pid,
      host: "ours",
      child: "not-ours",
      childPid: null,
      ledger: ledger({ host, child, boot: "an earlier boot" }),
    });
    expect(endTargetOf(session, "/n/s", processTable)).toEqual({
      session: "a",
      stRoot: "/n/s",
      host: living,
      child: null,
      boot: BOOT,
    });
  });

  test("no ledger, the agent's pid known from its host", () => {
    const session = observed("a", {
      pid: process.pid,
      host: "ours",
      childPid: process.ppid,
      child: "unknown",
      ledger: null,
    });
    const found = endTargetOf(session, "/n/s", processTable);
    expect([found.host, found.child]).toEqual([identityOf(process.pid), identityOf(process.ppid)]);
  });
});

describe("createEnder", () => {
  test("reports in the order asked; what cannot be told is not touched", async () => {
    const lives = await trees.startAgent("box.a", "echo ready; exec sleep 300");
    const unclear = await trees.startAgent("box.b", "echo ready; exec sleep 300");
    const reports = await ender().end(
      [
        observed("box.b", { process: "unknown", childPid: unclear.pid, child: "unknown" }),
        observed("box.a", {
          host: "not-ours",
          childPid: lives.pid,
          child: "ours",
          ledger: ledger({ host: null, child: lives, boot: BOOT }),
        }),
      ],
      5_000,
    );
    expect(reports).toEqual([
      { session: "box.b", pid: unclear.pid, result: "unknown", survivors: [] },
      { session: "box.a", pid: lives.pid, result: "stopped", survivors: [] },
    ]);
    expect(trees.marked().map((row) => row.pid)).toEqual([unclear.pid]);
  });

  test("leftovers by session, those that have any; a network through a link is the same network", async () => {
    const folder = mkdtempSync("/tmp/cv-");
    try {
      mkdirSync(join(folder, "net/smalltalk"), { recursive: true });
      symlinkSync("net", join(folder, "link"));
      const script = `ST_ROOT=${folder}/link/smalltalk setsid sleep 300 & echo ready; wait`;
      const child = await trees.startAgent("box.a", script);
      await until(() => trees.marked().some((row) => row.name === "sleep"));
      process.kill(child.pid, "SIGKILL");
      await until(() => identityOf(child.pid) === null);
      const left = trees.marked().map((row) => row.pid);
      const names = ["box.a", "box.b"].map((name) => ({ name, session: null }));
      expect(await ender(`${folder}/net/smalltalk`).findLeftovers(names)).toEqual(new Map([["box.a", left]]));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

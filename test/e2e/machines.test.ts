/** Two machines with one synced catalog: each acts on what is its own, and neither talks to the other. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../src/errors.ts";
import { DEADLINE_MS, isAlive, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

const SHED = { CONVOY_HOST: "shed" };
let box: Net;
let shed: Net;
beforeEach(() => {
  box = new Net();
  shed = new Net();
  // What a sync tool does, without its delay.
  rmSync(shed.catalog, { recursive: true });
  symlinkSync(box.catalog, shed.catalog);
});
afterEach(async () => {
  await box.remove();
  await shed.remove();
});

const launched = (net: Net) => net.said("launch").map(({ busId }) => busId);

test("SUP-A01 SUP-R06 SUP-R07: from one synced catalog each machine starts its own agents and defers the others'", async () => {
  box.declare("a");
  box.declare("b", { host: "Shed" });
  box.declare("c", { host: "shed.example.com" });
  await box.up();
  await shed.up([], SHED);
  await until("three agents to run", () => launched(box).length + launched(shed).length === 3);
  expect([launched(box), launched(shed).sort()]).toEqual([["box.a"], ["shed.b", "shed.c"]]);
  expect(box.said("plan")[0]).toMatchObject({ launch: ["a"], otherHost: ["b", "c"], problems: [] });
  expect(shed.said("plan")[0]).toMatchObject({ launch: ["b", "c"], otherHost: ["a"], problems: [] });
});

test("SUP-A01 SUP-R07: an agent is moved by ending it here and editing its host: the other machine starts it by itself", async () => {
  box.declare("a", { path: "a.toml" });
  const here = await box.up();
  // The timer stands in for the watch, which does not see behind a link.
  const there = await shed.up(["--interval", "0.2"], SHED);
  const pid = await box.running("a");
  expect((await box.convoy(["down", "--agent", "a"])).code).toBe(0);
  box.declare("a", { path: "a.toml", host: "shed" });
  await until("the agent to run there", () => launched(shed).length === 1);
  expect([isAlive(pid), launched(box), launched(shed)]).toEqual([false, ["box.a"], ["shed.a"]]);
  await until("both supervisors to agree", async () => (await box.plan()).otherHost[0] === "a");
  for (const supervisor of [here, there]) supervisor.signal("SIGTERM");
  expect([await here.ended, await there.ended, box.pid("a")]).toEqual([0, 0, null]);
});

test("SUP-A01: neither a supervisor nor a session host has a network socket", async () => {
  box.declare("a");
  box.declare("b", { host: "shed" });
  const { pid } = await box.up();
  await box.running("a");
  const own = [pid, box.ledger("a")?.host?.pid ?? 0];
  expect(own.map(isAlive)).toEqual([true, true]);
  expect(own.flatMap(internetSockets)).toEqual([]);
});

/** Inodes of a process's IP sockets; none can be told where there is no /proc. */
function internetSockets(pid: number): string[] {
  const tables = ["tcp", "tcp6", "udp", "udp6"].map((name) => `/proc/${pid}/net/${name}`).filter(existsSync);
  const known = new Set(
    tables.flatMap((path) =>
      readFileSync(path, "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/)[9]),
    ),
  );
  const folder = `/proc/${pid}/fd`;
  const descriptors = existsSync(folder) ? readdirSync(folder) : [];
  return descriptors
    .map((name) => /^socket:\[(\d+)\]$/.exec(linkOf(join(folder, name)))?.[1])
    .filter((inode) => inode !== undefined && known.has(inode))
    .map(String);
}

/** A descriptor may be closed between the listing and the look. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

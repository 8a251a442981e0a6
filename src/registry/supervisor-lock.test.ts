import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cleanUp, freshNetwork, nextLine, startScript } from "../../test/fakes/network.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { identityOf, processTable } from "../system/processes.ts";
import { acquireSupervisorLock, readSupervisor } from "./supervisor-lock.ts";

afterEach(cleanUp);

const MODULE = join(import.meta.dir, "supervisor-lock.ts");

/** A process that takes the lock, says what it got, and keeps it until a line arrives on its stdin. */
function startHolder(paths: NetworkPaths) {
  return startScript(`
    import { acquireSupervisorLock } from ${JSON.stringify(MODULE)};
    const lock = await acquireSupervisorLock(${JSON.stringify(paths)}, "9.9.9");
    Bun.gc(true);
    console.log(JSON.stringify(lock));
    for await (const _ of process.stdin) break;
    if (lock.held) lock.release();`);
}

async function ask(paths: NetworkPaths) {
  const asked = startHolder(paths);
  const answer = JSON.parse(await nextLine(asked));
  asked.kill("SIGKILL");
  await asked.exited;
  return answer;
}

describe("the supervisor's lock", () => {
  test("is one process's; the second is refused and told who has it", async () => {
    const paths = freshNetwork();
    const holder = startHolder(paths);
    expect(JSON.parse(await nextLine(holder))).toEqual({ held: true });
    const expected = { ...identityOf(holder.pid), boot: processTable.boot(), version: "9.9.9" };
    expect(await ask(paths)).toEqual({ held: false, holder: expected });
    expect(await acquireSupervisorLock(paths, "1")).toEqual({ held: false, holder: expected as never });
    expect(readSupervisor(paths)).toEqual(expected as never);
  });

  test("is free again when its holder is killed, stale name and all", async () => {
    const paths = freshNetwork();
    const holder = startHolder(paths);
    await nextLine(holder);
    holder.kill("SIGKILL");
    await holder.exited;
    expect(existsSync(paths.holder)).toBe(true);
    expect(readSupervisor(paths)).toBeNull();
    expect(await ask(paths)).toEqual({ held: true });
  });

  test("is let go at the holder's word, with its name", async () => {
    const paths = freshNetwork();
    const lock = await acquireSupervisorLock(paths, "1");
    expect(lock.held).toBe(true);
    expect(JSON.parse(readFileSync(paths.holder, "utf8"))).toEqual({
      ...identityOf(process.pid),
      boot: processTable.boot(),
      version: "1",
    } as never);
    expect(acquireSupervisorLock(paths, "1")).rejects.toThrow("this process supervises a network already");
    if (lock.held) lock.release();
    expect(existsSync(paths.holder)).toBe(false);
    expect(await ask(paths)).toEqual({ held: true });
  });

  test("is not taken beside a living supervisor whose database somebody removed", async () => {
    const paths = freshNetwork();
    const holder = startHolder(paths);
    await nextLine(holder);
    rmSync(paths.lockDatabase);
    expect(await ask(paths)).toMatchObject({ held: false, holder: { pid: holder.pid } });
  });

  test("is put back by its holder when its files are removed, and refused to the next", async () => {
    const paths = freshNetwork();
    const lock = await acquireSupervisorLock(paths, "1");
    if (!lock.held) throw new Error("not held");
    rmSync(paths.lockDatabase);
    rmSync(paths.holder);
    expect(lock.confirm()).toBe(true);
    expect(await ask(paths)).toMatchObject({ held: false, holder: { pid: process.pid } });
    rmSync(paths.state, { recursive: true });
    expect(lock.confirm()).toBe(true);
    expect(await ask(paths)).toMatchObject({ held: false, holder: { pid: process.pid } });
    lock.release();
    expect(await ask(paths)).toEqual({ held: true });
  }, 60_000);

  test("that another process took meanwhile stays that one's, name and all", async () => {
    const paths = freshNetwork();
    const lock = await acquireSupervisorLock(paths, "1");
    if (!lock.held) throw new Error("not held");
    rmSync(paths.lockDatabase);
    rmSync(paths.holder);
    const other = startHolder(paths);
    expect(JSON.parse(await nextLine(other))).toEqual({ held: true });
    expect(lock.confirm()).toBe(false);
    lock.release();
    expect(readSupervisor(paths)?.pid).toBe(other.pid);
  }, 60_000);

  test("of ten at once one gets it, and the others name the one", async () => {
    const paths = freshNetwork();
    const contenders = Array.from({ length: 10 }, () => startHolder(paths));
    const answers = await Promise.all(contenders.map(async (each) => JSON.parse(await nextLine(each))));
    const winner = contenders[answers.findIndex((answer) => answer.held)];
    expect(answers.filter((answer) => answer.held)).toHaveLength(1);
    expect(new Set(answers.filter((answer) => !answer.held).map((answer) => answer.holder?.pid))).toEqual(
      new Set([winner?.pid]),
    );
  }, 60_000);

  test("that cannot be made is an error, not another's lock", async () => {
    const paths = freshNetwork();
    mkdirSync(paths.lockDatabase, { recursive: true });
    expect(acquireSupervisorLock(paths, "1")).rejects.toThrow(
      `cannot lock ${paths.lockDatabase}: it is not a regular file`,
    );
  });
});

test.each([
  ["nothing", null],
  ["garbage", "{"],
  ["a process that is gone", JSON.stringify({ pid: 4_194_000, start: "1", boot: "BOOT", version: "1" })],
  ["a recycled pid", JSON.stringify({ pid: process.pid, start: "1", boot: "BOOT", version: "1" })],
  ["a pid alone", JSON.stringify({ pid: process.pid })],
])("no supervisor runs when its name is %s", (_, text) => {
  const paths = freshNetwork();
  mkdirSync(paths.state, { recursive: true });
  if (text !== null) writeFileSync(paths.holder, text.replace("BOOT", processTable.boot()));
  expect(readSupervisor(paths)).toBeNull();
});

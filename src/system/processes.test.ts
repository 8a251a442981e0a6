import { afterEach, describe, expect, test } from "bun:test";
import process from "node:process";
import { cleanUp, start, until } from "../../test/fakes/network.ts";
import type { Identification } from "../session.ts";
import {
  bootTimeMs,
  identify,
  identityOf,
  type ProcessRow,
  type ProcessTable,
  parsePsLine,
  parseStat,
  processTable,
  startTimeMs,
} from "./processes.ts";

afterEach(cleanUp);

const REST = "1 7 7 0 -1 4194560 100 0 0 0 1 1 0 0 20 0 1 0 4711 1 1";

describe("parseStat", () => {
  test.each<[string, ProcessRow | null]>([
    [`7 (sh) S ${REST}`, { pid: 7, parent: 1, start: "4711", zombie: false, name: "sh" }],
    [`7 (a) Z (b) c) S ${REST}`, { pid: 7, parent: 1, start: "4711", zombie: false, name: "a) Z (b) c" }],
    [`7 (sh) Z ${REST}`, { pid: 7, parent: 1, start: "4711", zombie: true, name: "sh" }],
    [`7 (sh) X ${REST}`, { pid: 7, parent: 1, start: "4711", zombie: true, name: "sh" }],
    ["", null],
    ["7 (sh", null],
    ["7 (sh) S 1", null],
  ])("%p", (text, row) => {
    expect(parseStat(text)).toEqual(row);
  });
});

test("parsePsLine reads a line of Darwin's ps", () => {
  expect(parsePsLine("  501   1 Ss   Mon Nov 30 10:00:00 2026 /bin/my prog")).toEqual({
    pid: 501,
    parent: 1,
    start: "Mon Nov 30 10:00:00 2026",
    zombie: false,
    name: "/bin/my prog",
  });
  expect(parsePsLine("  501   1 Z")).toBeNull();
});

describe("identify", () => {
  const row = { pid: 7, parent: 1, start: "70", zombie: false, name: "sh" };
  const table = (found: ReturnType<ProcessTable["row"]>): ProcessTable => ({
    ...processTable,
    boot: () => "b",
    row: () => found,
  });
  test.each<[string, ReturnType<ProcessTable["row"]>, string, Identification]>([
    ["the same birth and boot", row, "b", "ours"],
    ["another boot", row, "older", "not-ours"],
    ["another birth", { ...row, start: "71" }, "b", "not-ours"],
    ["a zombie", { ...row, zombie: true }, "b", "not-ours"],
    ["nothing there", null, "b", "not-ours"],
    ["hidden", "hidden", "b", "unknown"],
    ["hidden, of another boot", "hidden", "older", "not-ours"],
  ])("%s", (_, found, boot, expected) => {
    expect(identify({ pid: 7, start: "70" }, boot, table(found))).toBe(expected);
  });
});

describe("the process table", () => {
  test("shows a process with its parent, birth, arguments and environment, until it is gone", async () => {
    const child = start(["sleep", "61"], { env: { PATH: "/usr/bin:/bin", MARK: "m" } });
    await until(() => processTable.commandLine(child.pid)?.[1] === "61", "sleep to be there");
    const identity = identityOf(child.pid) ?? { pid: 0, start: "" };
    expect(processTable.row(child.pid)).toEqual({
      ...identity,
      parent: process.pid,
      zombie: false,
      name: "sleep",
    });
    expect(processTable.rows().some((row) => row.pid === child.pid)).toBe(true);
    expect(processTable.environment(child.pid)).toContain("MARK=m");
    expect(processTable.commandLine(child.pid)).toEqual(["sleep", "61"]);
    expect(identify(identity, processTable.boot())).toBe("ours");
    child.kill("SIGSTOP");
    expect(identify(identity, processTable.boot())).toBe("ours");
    child.kill("SIGKILL");
    await child.exited;
    expect(identify(identity, processTable.boot())).toBe("not-ours");
    expect([processTable.row(child.pid), processTable.commandLine(child.pid)]).toEqual([null, null]);
  });

  test("calls a zombie dead, though it has pid and birth", async () => {
    const parent = start(["sh", "-c", "sleep 2 & exec sleep 60"]);
    const childOf = () => processTable.rows().find((row) => row.parent === parent.pid);
    await until(() => childOf() !== undefined, "the child to be there");
    const { pid = 0, start: born = "" } = childOf() ?? {};
    expect(identify({ pid, start: born }, processTable.boot())).toBe("ours");
    await until(() => childOf()?.zombie === true, "the child to be a zombie");
    expect(identify({ pid, start: born }, processTable.boot())).toBe("not-ours");
    expect(identityOf(pid)).toBeNull();
  });

  test("tells births and the boot by the wall clock", () => {
    const before = Date.now();
    const row = processTable.row(start(["sleep", "60"]).pid);
    const born = row === null || row === "hidden" ? null : startTimeMs(row);
    expect(Math.abs((born ?? 0) - before)).toBeLessThan(3_000);
    expect(bootTimeMs() ?? 0).toBeLessThan(before);
  });

  test("boot ids are the same for two who ask", async () => {
    const other = start(["cat", "/proc/sys/kernel/random/boot_id"]);
    expect((await new Response(other.stdout).text()).trim()).toBe(processTable.boot());
  });
});

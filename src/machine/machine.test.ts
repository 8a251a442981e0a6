import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { skippable } from "../../test/support/skippable.ts";
import { ask } from "./ask.ts";
import { whereaboutsOf } from "./logout.ts";
import { countFolders, findProgram, readDisk, readFolder, readVersion } from "./state.ts";
import { readWatches } from "./watches.ts";

const folders: string[] = [];
function freshFolder(): string {
  const folder = mkdtempSync("/tmp/cv-machine-");
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const ENV = { PATH: process.env.PATH ?? "/usr/bin:/bin" };

test("ask: what a program printed; nothing from one that fails, or is not there", async () => {
  expect(await ask(["sh", "-c", "echo ' a b '; echo no >&2"], ENV)).toBe("a b");
  expect(await ask(["sh", "-c", "echo a; exit 3"], ENV)).toBeNull();
  expect(await ask(["no-such-program-here"], ENV)).toBeNull();
});

test("programs are found along the path that is given, and say their version", async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, "tool"), '#!/bin/sh\necho "tool 7 $1"\necho more\n', { mode: 0o755 });
  writeFileSync(join(folder, "text"), "tool", { mode: 0o644 });
  expect(findProgram("tool", `/none::${folder}`)).toBe(join(folder, "tool"));
  expect(findProgram("text", folder)).toBeNull();
  expect(findProgram(join(folder, "tool"), "")).toBe(join(folder, "tool"));
  expect(await readVersion(join(folder, "tool"), ENV)).toBe("tool 7 --version");
});

test("folders: what is there, whose, how open, how many below", () => {
  const folder = freshFolder();
  mkdirSync(join(folder, "a", "b"), { recursive: true, mode: 0o755 });
  expect(readFolder(folder, true)).toEqual({
    path: folder,
    present: true,
    isPrivate: true,
    mode: 0o700,
    own: true,
    writable: true,
  });
  expect(readFolder(join(folder, "none"), false)).toMatchObject({ present: false, writable: false });
  expect([countFolders(folder), countFolders(join(folder, "none"))]).toEqual([3, 1]);
});

test("a disk is that of the nearest folder that is there", () => {
  const { path, freeBytes } = readDisk("/none/of/these");
  expect([path, (freeBytes ?? 0) > 0]).toEqual(["/none/of/these", true]);
});

const before = readWatches();
const missing = before === null ? "this system has no watch limits" : null;
skippable("watches of a process are counted", missing, async () => {
  const folder = freshFolder();
  const program = 'require("fs").watch(process.argv[1], () => {}); console.log("watching")';
  const child = Bun.spawn([process.execPath, "-e", program, folder], { stdio: ["ignore", "pipe", "ignore"] });
  const reader = child.stdout.getReader();
  await reader.read();
  const own = readWatches([String(child.pid)]);
  child.kill("SIGKILL");
  await child.exited;
  expect(own).toEqual({ ...before!, instances: 1, watches: 1 });
  expect([before!.maxInstances > 0, before!.maxWatches > 0]).toEqual([true, true]);
});

test("a process is somewhere, and one that is gone is elsewhere", () => {
  expect(["login", "user-manager", "elsewhere"]).toContain(whereaboutsOf(process.pid));
  expect(existsSync("/proc/4194305")).toBe(false);
  expect(whereaboutsOf(4_194_305)).toBe("elsewhere");
});

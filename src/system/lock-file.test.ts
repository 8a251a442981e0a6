import { afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cleanUp, freshFolder, nextLine, start, startScript } from "../../test/fakes/network.ts";
import { missingUnless, skippable } from "../../test/support/skippable.ts";
import { isLockHeld, tryLockFile, withLockFile } from "./lock-file.ts";
import { identityOf, processTable } from "./processes.ts";

afterEach(cleanUp);

const MODULE = join(import.meta.dir, "lock-file.ts");

/** A pid that no process has: that of a process which has just ended. */
async function deadPid(): Promise<number> {
  const child = start(["true"]);
  await child.exited;
  return child.pid;
}

async function failure(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "no failure",
    (error: Error) => error.message,
  );
}

describe("withLockFile", () => {
  test("holds the decimal pid in a file for this user alone, and lets go, also when its body fails", async () => {
    const path = join(freshFolder(), "a.lock");
    await withLockFile(path, () => {
      expect(readFileSync(path, "utf8")).toBe(String(process.pid));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(isLockHeld(path)).toBe(true);
    });
    expect(existsSync(path)).toBe(false);
    expect(await failure(withLockFile(path, () => Promise.reject(new Error("inside"))))).toBe("inside");
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("names the holder when it stays busy, and leaves its lock alone", async () => {
    const path = join(freshFolder(), "a.lock");
    const holder = start(["sleep", "60"]);
    writeFileSync(path, String(holder.pid));
    expect(await failure(withLockFile(path, () => null, { waitMs: 30 }))).toBe(
      `${path} is held by process ${holder.pid}`,
    );
    expect(readFileSync(path, "utf8")).toBe(String(holder.pid));
  });

  test("gets the lock when its holder lets go within the wait", async () => {
    const path = join(freshFolder(), "a.lock");
    const release = tryLockFile(path);
    const waiting = withLockFile(path, () => "mine");
    release?.();
    expect(await waiting).toBe("mine");
  });

  test.each<[string, () => Promise<string>, number]>([
    ["of a dead process", async () => String(await deadPid()), 0],
    [
      "of a recycled pid: its process is younger than the lock",
      async () => String(start(["sleep", "60"]).pid),
      3_600,
    ],
    ["that names another birth", async () => `${process.pid} 1 ${processTable.boot()}`, 0],
    ["of another boot", async () => `${process.pid} ${identityOf(process.pid)?.start} other`, 0],
    ["left empty by a crash", async () => "", 5],
    ["with garbage in it", async () => "no pid", 5],
  ])("breaks a lock %s", async (_, content, ageSeconds) => {
    const path = join(freshFolder(), "a.lock");
    writeFileSync(path, await content());
    const then = Date.now() / 1000 - ageSeconds;
    utimesSync(path, then, then);
    expect(await withLockFile(path, () => "mine", { waitMs: 100 })).toBe("mine");
  });

  test.each<[string, () => string, number]>([
    ["that is empty and young: between its creation and its pid", () => "", 0],
    ["of a living process, young", () => String(process.ppid), 0],
    ["of a living process that is older than the lock", () => String(process.ppid), -3_600],
    [
      "that names this very process",
      () => `${process.pid} ${identityOf(process.pid)?.start} ${processTable.boot()}`,
      3_600,
    ],
  ])("does not break a lock %s", async (_, content, ageSeconds) => {
    const path = join(freshFolder(), "a.lock");
    writeFileSync(path, content());
    const then = Date.now() / 1000 - ageSeconds;
    utimesSync(path, then, then);
    expect(tryLockFile(path)).toBeNull();
    expect(readFileSync(path, "utf8")).toBe(content());
  });

  test("with identity it names pid, birth and boot", () => {
    const path = join(freshFolder(), "a.lock");
    const release = tryLockFile(path, { identity: true });
    const self = identityOf(process.pid);
    expect(readFileSync(path, "utf8")).toBe(`${process.pid} ${self?.start} ${processTable.boot()}`);
    release?.();
  });

  test("a folder that is gone, or may not be written, is said in one line", async () => {
    const folder = freshFolder();
    expect(await failure(withLockFile(join(folder, "no", "a.lock"), () => null))).toBe(
      `cannot lock ${folder}/no/a.lock: its folder is gone`,
    );
    writeFileSync(join(folder, "file"), "");
    expect(await failure(withLockFile(join(folder, "file", "a.lock"), () => null))).toBe(
      `cannot lock ${folder}/file/a.lock: its folder is not a folder`,
    );
  });

  const noOtherUser = missingUnless(
    ["setpriv", "--reuid=65534", "--clear-groups", process.execPath, "-e", ""],
    "nobody else may be become here, or run this Bun",
  );

  skippable("without the right to write says so and leaves nothing", noOtherUser, async () => {
    const folder = freshFolder();
    chmodSync(folder, 0o755);
    const source = `import { withLockFile } from ${JSON.stringify(MODULE)};
      await withLockFile(process.argv[1], () => null).catch((error) => console.log(error.message));`;
    const user = start(
      ["setpriv", "--reuid=65534", "--clear-groups", process.execPath, "-e", source, join(folder, "a.lock")],
      { env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" } },
    );
    expect(await nextLine(user)).toBe(`cannot lock ${folder}/a.lock: no permission to write in its folder`);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("four processes that contend, with holders that die in between, never hold it together", async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, "counter"), "0");
  const source = `
    import { closeSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
    import { withLockFile } from ${JSON.stringify(MODULE)};
    const [folder, dead, own] = process.argv.slice(2);
    for (let turn = 0; turn < 200; turn += 1) {
      await withLockFile(folder + "/a.lock", () => {
        closeSync(openSync(folder + "/inside", "wx"));
        const count = Number(readFileSync(folder + "/counter", "utf8"));
        writeFileSync(folder + "/counter", String(count + 1));
        rmSync(folder + "/inside");
      }, { waitMs: 30_000 });
      if (turn % 4 !== 0) continue;
      writeFileSync(folder + "/dead." + own, dead);
      try { linkSync(folder + "/dead." + own, folder + "/a.lock"); } catch (error) { if (error.code !== "EEXIST") throw error; }
      rmSync(folder + "/dead." + own);
    }
    console.log("done");`;
  const dead = String(await deadPid());
  const script = join(folder, "worker.ts");
  writeFileSync(script, source);
  const workers = [1, 2, 3, 4].map((own) => start([process.execPath, script, folder, dead, String(own)]));
  const codes = await Promise.all(workers.map((worker) => worker.exited));
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(readFileSync(join(folder, "counter"), "utf8")).toBe("800");
  expect(readdirSync(folder).filter((name) => name.includes(".tmp"))).toEqual([]);
}, 60_000);

test("a holder that is killed blocks nobody", async () => {
  const path = join(freshFolder(), "a.lock");
  const holder = startScript(`
    import { withLockFile } from ${JSON.stringify(MODULE)};
    await withLockFile(${JSON.stringify(path)}, async () => { console.log("held"); await Bun.sleep(60_000); });`);
  expect(await nextLine(holder)).toBe("held");
  expect(tryLockFile(path)).toBeNull();
  holder.kill("SIGKILL");
  await holder.exited;
  expect(await withLockFile(path, () => "mine")).toBe("mine");
});

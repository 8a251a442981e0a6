import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cleanUp, freshFolder, start } from "../../test/fakes/network.ts";
import { missingUnless, skippable } from "../../test/support/skippable.ts";
import { writeFileAtomic } from "./atomic-write.ts";
import { removeFile } from "./remove-file.ts";

afterEach(cleanUp);

describe("writeFileAtomic", () => {
  test("replaces a file by a new one with the mode asked for, and leaves no other", () => {
    const folder = freshFolder();
    const path = join(folder, "a");
    writeFileSync(path, "old", { mode: 0o644 });
    const old = statSync(path).ino;
    expect(writeFileAtomic(path, "naïve ☃", { mode: 0o640, sync: true })).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("naïve ☃");
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(statSync(path).ino).not.toBe(old);
    expect(readdirSync(folder)).toEqual(["a"]);
  });

  test("leaves the file as it is when it is no longer wanted, or cannot be renamed", () => {
    const folder = freshFolder();
    const path = join(folder, "a");
    writeFileSync(path, "old");
    expect(writeFileAtomic(path, "new", { stillWanted: () => false })).toBe(false);
    mkdirSync(join(folder, "d", "x"), { recursive: true });
    expect(() => writeFileAtomic(join(folder, "d"), "new")).toThrow();
    expect(() => writeFileAtomic(join(folder, "none", "a"), "new")).toThrow("ENOENT");
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(folder).sort()).toEqual(["a", "d"]);
  });
});

test("removeFile removes, and takes a file that is gone for removed", () => {
  const folder = freshFolder();
  const path = join(folder, "a");
  writeFileSync(path, "");
  removeFile(path);
  removeFile(path);
  writeFileSync(path, "");
  removeFile(join(path, "below"));
  expect(readdirSync(folder)).toEqual(["a"]);
  mkdirSync(join(folder, "d"));
  expect(() => removeFile(join(folder, "d"))).toThrow();
});

const ISOLATED = ["unshare", "-Urm", "sh", "-c"] as const;
const noMounts = missingUnless(
  [...ISOLATED, "mount -t tmpfs -o size=64k none /tmp"],
  "it needs a mount name space",
);

skippable("a full disk: the old file stays, no temporary one does, locks say why", noMounts, async () => {
  const folder = freshFolder();
  const script = `
    import { readdirSync, readFileSync, writeFileSync } from "node:fs";
    import { writeFileAtomic } from ${JSON.stringify(join(import.meta.dir, "atomic-write.ts"))};
    import { withLockFile } from ${JSON.stringify(join(import.meta.dir, "lock-file.ts"))};
    const [folder] = process.argv.slice(1);
    writeFileSync(folder + "/a", "old");
    for (const size of [4096, 1]) {
      try { for (let n = 0; ; n += 1) writeFileSync(folder + "/fill." + size + "." + n, "x".repeat(size)); }
      catch (error) { if (error.code !== "ENOSPC") throw error; }
    }
    const before = readdirSync(folder).length;
    const said = [];
    try { writeFileAtomic(folder + "/a", "n".repeat(10_000)); } catch (error) { said.push(error.code); }
    await withLockFile(folder + "/a.lock", () => null).catch((error) => said.push(error.message));
    said.push(readFileSync(folder + "/a", "utf8"), readdirSync(folder).length - before);
    console.log(JSON.stringify(said));`;
  const shell = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" -e "$3" "$1"';
  const full = start([...ISOLATED, shell, "sh", folder, process.execPath, script]);
  expect(JSON.parse(await new Response(full.stdout).text())).toEqual([
    "ENOSPC",
    `cannot lock ${folder}/a.lock: no space left on its file system`,
    "old",
    0,
  ]);
});

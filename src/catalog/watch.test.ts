import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { missingUnless, skippable } from "../../test/support/skippable.ts";
import { type CatalogWatcher, watchCatalog } from "./watch.ts";

let dir: string;
let catalogDir: string;
let watcher: CatalogWatcher | null;
let changes: number;
let problems: string[];

beforeEach(() => {
  dir = mkdtempSync("/tmp/cv-");
  catalogDir = join(dir, "catalog");
  watcher = null;
  changes = 0;
  problems = [];
});
afterEach(() => {
  watcher?.close();
  rmSync(dir, { recursive: true, force: true });
});

function start(path = catalogDir): void {
  watcher = watchCatalog(
    path,
    () => {
      changes += 1;
    },
    (message) => problems.push(message),
  );
}

/** Does `act` and waits until the watcher has told of it. */
async function told(act: () => void): Promise<void> {
  const before = changes;
  act();
  const deadline = Date.now() + 4000;
  while (changes === before) {
    if (Date.now() > deadline) throw new Error("no change was told");
    await Bun.sleep(5);
  }
  await quiet();
}

/** Until nothing has been told for a while. */
async function quiet(): Promise<void> {
  for (let seen = -1; seen !== changes; ) {
    seen = changes;
    await Bun.sleep(60);
  }
}

test("writes, renames into place, and folders made later", async () => {
  mkdirSync(join(catalogDir, "box/a"), { recursive: true });
  start();
  await told(() => writeFileSync(join(catalogDir, "box/a/x.toml"), "a"));
  await told(() => mkdirSync(join(catalogDir, "new/b"), { recursive: true }));
  await told(() => writeFileSync(join(catalogDir, "new/b/x.toml"), "b"));
  writeFileSync(join(dir, "t"), "c");
  await told(() => renameSync(join(dir, "t"), join(catalogDir, "new/b/x.toml")));
  await told(() => rmSync(join(catalogDir, "new"), { recursive: true }));
  expect(problems).toEqual([]);
});

test("the folder goes and comes back, as another one too", async () => {
  mkdirSync(catalogDir);
  start();
  await told(() => rmSync(catalogDir, { recursive: true }));
  await told(() => mkdirSync(catalogDir));
  await told(() => writeFileSync(join(catalogDir, "x.toml"), "a"));
  mkdirSync(join(dir, "other"));
  await told(() => {
    renameSync(catalogDir, join(dir, "old"));
    renameSync(join(dir, "other"), catalogDir);
  });
  await told(() => writeFileSync(join(catalogDir, "y.toml"), "a"));
  expect(problems).toEqual([]);
});

test("a folder that comes into being with all above it", async () => {
  const deep = join(dir, "state/net/catalog");
  start(deep);
  await told(() => mkdirSync(deep, { recursive: true }));
  await told(() => writeFileSync(join(deep, "x.toml"), "a"));
  await told(() => rmSync(join(dir, "state"), { recursive: true }));
  await told(() => mkdirSync(deep, { recursive: true }));
  await told(() => writeFileSync(join(deep, "x.toml"), "a"));
});

test("a link to the folder", async () => {
  mkdirSync(join(dir, "real"));
  symlinkSync("real", catalogDir);
  start();
  await told(() => writeFileSync(join(dir, "real/x.toml"), "a"));
});

test("what happens beside the folder, and after close, is not told", async () => {
  mkdirSync(catalogDir);
  start();
  writeFileSync(join(dir, "beside"), "");
  mkdirSync(join(dir, "pty"));
  await quiet();
  expect(changes).toBe(0);
  watcher?.close();
  writeFileSync(join(catalogDir, "x.toml"), "");
  await quiet();
  expect(changes).toBe(0);
});

const NO_WATCHES: readonly [string, ...string[]] = [
  "unshare",
  "-Ur",
  "sh",
  "-c",
  'echo "$1" > /proc/sys/user/max_inotify_watches && shift && exec "$@"',
  "sh",
];
const unlimited = missingUnless([...NO_WATCHES, "0", "true"], "it needs a user name space");

for (const watches of ["0", "1", "3"])
  skippable(`with ${watches} watches left it is said once, and nothing breaks`, unlimited, async () => {
    mkdirSync(join(catalogDir, "a/b/c/d"), { recursive: true });
    const script = `import { watchCatalog } from "${import.meta.dir}/watch.ts";
    import { mkdirSync, rmSync, writeFileSync } from "node:fs";
    const dir = ${JSON.stringify(catalogDir)};
    let problems = 0;
    const watcher = watchCatalog(dir, () => {}, (message) => { problems += 1; console.log(message); });
    for (let i = 0; i < 5; i += 1) { mkdirSync(dir + "/new" + i + "/x", { recursive: true }); writeFileSync(dir + "/f" + i, ""); await Bun.sleep(30); }
    rmSync(dir, { recursive: true });
    await Bun.sleep(30);
    mkdirSync(dir);
    await Bun.sleep(30);
    watcher.close();`;
    const child = Bun.spawn([...NO_WATCHES, watches, process.execPath, "-e", script], {
      cwd: "/tmp",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err, code] = [
      await new Response(child.stdout).text(),
      await new Response(child.stderr).text(),
      await child.exited,
    ];
    expect({ out, err, code }).toEqual({
      out: `changes in ${catalogDir} are not all seen at once: no inotify watches are left (fs.inotify.max_user_watches); the timer finds them\n`,
      err: "",
      code: 0,
    });
  });

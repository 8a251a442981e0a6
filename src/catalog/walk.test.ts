import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CatalogFixture, identities, messages, toml } from "./catalog-fixture.ts";

let catalog: CatalogFixture;
beforeEach(() => {
  catalog = new CatalogFixture();
});
afterEach(() => catalog.remove());

describe("what tools leave behind", () => {
  test("conflict copies are named, the rest is silent", async () => {
    catalog.put("h/x/agent.toml", toml("x"));
    catalog.put("h/x/agent.sync-conflict-20261130-101010-ABCDEFG.toml", toml("x", "retired = true\n"));
    catalog.put("h/x/agent (box's conflicted copy 2026-11-30).toml", toml("x", "retired = true\n"));
    catalog.put("h/x/agent (1).toml", toml("x"));
    catalog.put("h/x (conflicted copy)/agent.toml", toml("x"));
    for (const name of [
      "agent.toml~",
      "agent.toml.orig",
      "#agent.toml#",
      "agent_BASE_12.toml",
      "~syncthing~agent.toml.tmp",
    ])
      catalog.put(`h/x/${name}`, "<<<<<<< broken");
    for (const path of [
      ".syncthing.agent.toml.tmp",
      ".agent.toml.Ab3dEf",
      ".~tmp~/agent.toml",
      ".hidden.toml",
    ])
      catalog.put(`h/x/${path}`, "<<<<<<< broken");
    catalog.put(".stversions/h/x/agent.toml", toml("x"));
    catalog.put("h/.git/h/x/agent.toml", toml("x"));
    symlinkSync("nobody@box.123:456", join(catalog.catalogDir, "h/x/.#agent.toml"));
    symlinkSync("nowhere", join(catalog.catalogDir, "h/x/dangling.toml"));
    symlinkSync("loop.toml", join(catalog.catalogDir, "h/x/loop.toml"));
    const reading = await catalog.read();
    expect(identities(reading)).toEqual(["h/x/agent.toml: x"]);
    const said = "is a conflict copy left by a sync tool: not read; merge what you need and delete it";
    expect(messages(reading)).toEqual([
      `warning h/x (conflicted copy):null ${said}`,
      `warning h/x/agent (1).toml:null ${said}`,
      `warning h/x/agent (box's conflicted copy 2026-11-30).toml:null ${said}`,
      `warning h/x/agent.sync-conflict-20261130-101010-ABCDEFG.toml:null ${said}`,
    ]);
  });

  test("names that differ only in case are warned of", async () => {
    catalog.put("Box/a/x.toml", toml("a"));
    catalog.put("box/b/x.toml", toml("b"));
    const reading = await catalog.read();
    expect(identities(reading)).toEqual(["Box/a/x.toml: a", "box/b/x.toml: b"]);
    expect(messages(reading)).toEqual([
      'warning box:null differs from "Box" beside it only in case: they are one and the same on some machines',
    ]);
  });
});

describe("links", () => {
  test("a real folder is read once, under its own name", async () => {
    catalog.put("box/a/x.toml", toml("a"));
    mkdirSync(join(catalog.dir, "outside/c"), { recursive: true });
    writeFileSync(join(catalog.dir, "outside/c/x.toml"), toml("c"));
    symlinkSync("box", join(catalog.catalogDir, "alias"));
    symlinkSync("..", join(catalog.catalogDir, "box/loop"));
    symlinkSync(join(catalog.dir, "outside"), join(catalog.catalogDir, "host"));
    symlinkSync(join(catalog.dir, "outside"), join(catalog.catalogDir, "host2"));
    symlinkSync("x.toml", join(catalog.catalogDir, "box/a/second.toml"));
    const reading = await catalog.read();
    expect(identities(reading)).toEqual(["box/a/x.toml: a", "host/c/x.toml: c"]);
    expect(reading.files[1]?.entry?.declaration.host).toBe("host");
    expect(messages(reading)).toEqual([]);
  });

  test("one to a folder around the catalog is not followed", async () => {
    catalog.put("box/a/x.toml", toml("a"));
    writeFileSync(join(catalog.dir, "stray.toml"), toml("stray"));
    symlinkSync(catalog.dir, join(catalog.catalogDir, "up"));
    const reading = await catalog.read();
    expect(identities(reading)).toEqual(["box/a/x.toml: a"]);
    expect(messages(reading)).toEqual([
      "warning up:null is a link to a folder that holds the catalog itself: not followed",
    ]);
  });

  test("a hard link is a second file", async () => {
    linkSync(catalog.put("a.toml", toml("a")), join(catalog.catalogDir, "b.toml"));
    expect(identities(await catalog.read())).toEqual(["a.toml: a", "b.toml: a"]);
  });
});

describe("what cannot be read", () => {
  test("a folder too deep is not looked into, and that is said", async () => {
    const deep = Array.from({ length: 16 }, () => "d").join("/");
    catalog.put(`${deep}/x.toml`, toml("a"));
    catalog.put(`${deep}/e/y.toml`, toml("b"));
    const reading = await catalog.read();
    expect(identities(reading)).toEqual([`${deep}/x.toml: a`]);
    expect(messages(reading)).toContain(
      `warning ${deep}/e:null is more than 16 folders deep: not looked into`,
    );
  });

  test("a large file, a pipe, bytes that are no text, a folder named like a file", async () => {
    catalog.put("good.toml", toml("good"));
    catalog.put("large.toml", `# ${"x".repeat(1 << 20)}\n${toml("large")}`);
    writeFileSync(join(catalog.catalogDir, "latin1.toml"), Buffer.from(toml("x", "# caf\xe9\n"), "latin1"));
    Bun.spawnSync(["mkfifo", join(catalog.catalogDir, "pipe.toml")]);
    catalog.put("folder.toml/x.toml", toml("inside"));
    const reading = await catalog.read();
    expect(identities(reading).filter((line) => !line.endsWith("null"))).toEqual([
      "folder.toml/x.toml: inside",
      "good.toml: good",
    ]);
    expect(messages(reading)).toEqual([
      "error large.toml:null is over 1 MiB (1048634 bytes): too large for a declaration",
      "error latin1.toml:null is not UTF-8 text",
      "error pipe.toml:null is not a regular file",
    ]);
  });

  test("a file and a folder without permission", () => {
    catalog.put("good.toml", toml("good"));
    chmodSync(catalog.put("secret.toml", toml("secret")), 0);
    catalog.put("shut/x.toml", toml("shut"));
    chmodSync(join(catalog.catalogDir, "shut"), 0);
    chmodSync(catalog.dir, 0o755);
    const script = `import { readCatalog } from "${import.meta.dir}/read.ts";
      const reading = await readCatalog({ catalogDir: ${JSON.stringify(catalog.catalogDir)} });
      console.log(JSON.stringify([reading.files.map((f) => f.path), reading.problems]));`;
    const command =
      process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const child = Bun.spawnSync([...command, process.execPath, "-e", script], {
      cwd: "/tmp",
      env: { PATH: process.env.PATH ?? "", HOME: catalog.dir, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    });
    chmodSync(join(catalog.catalogDir, "shut"), 0o755);
    expect(child.stderr.toString()).toBe("");
    expect(JSON.parse(child.stdout.toString())).toEqual([
      ["good.toml", "secret.toml"],
      [
        {
          severity: "error",
          path: "secret.toml",
          line: null,
          message: "cannot be read: permission denied (EACCES)",
        },
        {
          severity: "error",
          path: "shut",
          line: null,
          message: "cannot be read: permission denied (EACCES)",
        },
      ],
    ]);
  });
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { CatalogReading } from "../catalog-reading.ts";
import type { Declaration } from "../declaration.ts";
import type { Clock } from "../system/clock.ts";
import { readCatalog } from "./read.ts";

let dir: string;
let catalogDir: string;

beforeEach(() => {
  dir = mkdtempSync("/tmp/cv-");
  catalogDir = join(dir, "catalog");
  mkdirSync(catalogDir);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const file = join(catalogDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function toml(identity: string, more = ""): string {
  return `identity = "${identity}"\nrole = "worker"\nsupervisor = "boss"\n${more}`;
}

/** A clock far ahead of the files: everything is old. */
const later: Clock = {
  now: () => new Date(Date.now() + 60_000),
  sleep: () => Promise.reject(new Error("nothing to wait for")),
};
const read = (): Promise<CatalogReading> => readCatalog({ catalogDir, clock: later });

function identities(reading: CatalogReading): string[] {
  return reading.files.map(
    (file) => `${file.path}: ${file.entry?.declaration.identity ?? file.claimedIdentity}`,
  );
}

function messages(reading: CatalogReading): string[] {
  return reading.problems.map(
    (problem) => `${problem.severity} ${problem.path}:${problem.line} ${problem.message}`,
  );
}

function declarationOf(reading: CatalogReading): Declaration | undefined {
  return reading.files[0]?.entry?.declaration;
}

test("good and bad files stand side by side, each with its line", async () => {
  put("box/a/agent.toml", toml("a", 'host = "box"\n'));
  put("box/b/agent.kdl", 'agent "b" {\n  role "worker"\n  supervisor "a"\n  retired "yes"\n}\n');
  put("box/c/agent.json", '{\n  "identity": "C",\n  "role": "worker",\n}\n');
  put("box/d/agent.json", '{\n  "identity": "D",\n  "host": "box",\n  "role": "worker"\n}\n');
  put("package.json", '{"name": "x"}');
  put("empty.kdl", "");
  const reading = await read();
  expect(messages(reading)).toEqual([
    'error box/b/agent.kdl:4 retired must be true or false, found the string "yes"',
    "error box/c/agent.json:4 is not valid JSON: a quoted member name is expected here (a comma too many before it?)",
    'error box/d/agent.json:2 identity "D" is not an identity: lower-case letters, digits, "." and "-", starting and ending with a letter or digit',
    "warning box/d/agent.json:4 no supervisor is named: this worker reports to nobody",
  ]);
  expect(reading.files.map(({ entry, ...file }) => ({ ...file, good: entry !== null }))).toEqual([
    { path: "box/a/agent.toml", claimedIdentity: "a", hostWritten: true, parsed: true, good: true },
    { path: "box/b/agent.kdl", claimedIdentity: "b", hostWritten: false, parsed: true, good: false },
    { path: "box/c/agent.json", claimedIdentity: null, hostWritten: false, parsed: false, good: false },
    { path: "box/d/agent.json", claimedIdentity: "D", hostWritten: true, parsed: true, good: false },
  ]);
  expect([reading.state, reading.declaresNothing]).toEqual(["read", ["empty.kdl", "package.json"]]);
});

describe("the catalog folder", () => {
  test("missing", async () => {
    rmSync(catalogDir, { recursive: true });
    expect(await read()).toEqual({
      state: "missing",
      files: [],
      problems: [{ severity: "error", path: ".", line: null, message: "the catalog folder is missing" }],
      declaresNothing: [],
    });
    expect(existsSync(catalogDir)).toBe(false);
  });

  test("a file in its place", async () => {
    rmSync(catalogDir, { recursive: true });
    writeFileSync(catalogDir, "");
    const reading = await read();
    expect([reading.state, ...messages(reading)]).toEqual([
      "unreadable",
      "error .:null the catalog folder cannot be read: something on its path is not a folder (ENOTDIR)",
    ]);
  });

  test("empty", async () => {
    expect(await read()).toEqual({ state: "read", files: [], problems: [], declaresNothing: [] });
  });

  test("a link to it", async () => {
    put("a.toml", toml("a"));
    renameSync(catalogDir, join(dir, "elsewhere"));
    symlinkSync("elsewhere", catalogDir);
    expect(identities(await read())).toEqual(["a.toml: a"]);
  });
});

describe("the host of a folder", () => {
  test.each([
    ["Box.example.com/fabric/x.toml", "", "box", []],
    ["team/Box/fabric/x.toml", "", "box", []],
    ["box/x.toml", "", null, []],
    ["x.toml", "", null, []],
    ["box/workers/x.toml", "", "box", []],
    ["workers/fabric/x.toml", "", null, []],
    ["technical-managers/fabric/x.toml", "", null, []],
    ["box/fabric/x.toml", 'host = "BOX.lan"\n', "box", []],
    [
      "box/fabric/x.toml",
      'host = "other"\n',
      "other",
      ['warning 4 host is "other", its folder says "box": the file counts'],
    ],
    [
      "box/fabrik/x.toml",
      "",
      "box",
      ['warning 1 identity is "fabric", its folder says "fabrik": the file counts'],
    ],
    [
      "my team/fabric/x.toml",
      "",
      null,
      [
        'warning 1 no host is named, and its folder "my team" cannot be one: it belongs to any machine that reads it',
      ],
    ],
  ] as const)("%s %p is for %p", async (path, more, host, warnings) => {
    put(path, toml("fabric", more));
    const reading = await read();
    const [file] = reading.files;
    expect(file?.entry?.declaration.host).toBe(host);
    expect(file?.hostWritten).toBe(more !== "");
    expect(reading.problems.map((p) => `${p.severity} ${p.line} ${p.message}`)).toEqual([...warnings]);
  });

  test("only one of identity and role is an error whatever the folders say", async () => {
    put("box/fabric/x.toml", 'role = "worker"\nsupervisor = "b"\n');
    expect(messages(await read())).toEqual([
      "error box/fabric/x.toml:1 identity is missing: a declaration has both identity and role",
    ]);
  });
});

describe("what tools leave behind", () => {
  test("conflict copies are named, the rest is silent", async () => {
    put("h/x/agent.toml", toml("x"));
    put("h/x/agent.sync-conflict-20261130-101010-ABCDEFG.toml", toml("x", "retired = true\n"));
    put("h/x/agent (box's conflicted copy 2026-11-30).toml", toml("x", "retired = true\n"));
    put("h/x/agent (1).toml", toml("x"));
    put("h/x (conflicted copy)/agent.toml", toml("x"));
    for (const name of [
      "agent.toml~",
      "agent.toml.orig",
      "#agent.toml#",
      "agent_BASE_12.toml",
      "~syncthing~agent.toml.tmp",
    ])
      put(`h/x/${name}`, "<<<<<<< broken");
    for (const path of [
      ".syncthing.agent.toml.tmp",
      ".agent.toml.Ab3dEf",
      ".~tmp~/agent.toml",
      ".hidden.toml",
    ])
      put(`h/x/${path}`, "<<<<<<< broken");
    put(".stversions/h/x/agent.toml", toml("x"));
    put("h/.git/h/x/agent.toml", toml("x"));
    symlinkSync("nobody@box.123:456", join(catalogDir, "h/x/.#agent.toml"));
    symlinkSync("nowhere", join(catalogDir, "h/x/dangling.toml"));
    symlinkSync("loop.toml", join(catalogDir, "h/x/loop.toml"));
    const reading = await read();
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
    put("Box/a/x.toml", toml("a"));
    put("box/b/x.toml", toml("b"));
    const reading = await read();
    expect(identities(reading)).toEqual(["Box/a/x.toml: a", "box/b/x.toml: b"]);
    expect(messages(reading)).toEqual([
      'warning box:null differs from "Box" beside it only in case: they are one and the same on some machines',
    ]);
  });
});

describe("links", () => {
  test("a real folder is read once, under its own name", async () => {
    put("box/a/x.toml", toml("a"));
    mkdirSync(join(dir, "outside/c"), { recursive: true });
    writeFileSync(join(dir, "outside/c/x.toml"), toml("c"));
    symlinkSync("box", join(catalogDir, "alias"));
    symlinkSync("..", join(catalogDir, "box/loop"));
    symlinkSync(join(dir, "outside"), join(catalogDir, "host"));
    symlinkSync(join(dir, "outside"), join(catalogDir, "host2"));
    symlinkSync("x.toml", join(catalogDir, "box/a/second.toml"));
    const reading = await read();
    expect(identities(reading)).toEqual(["box/a/x.toml: a", "host/c/x.toml: c"]);
    expect(reading.files[1]?.entry?.declaration.host).toBe("host");
    expect(messages(reading)).toEqual([]);
  });

  test("one to a folder around the catalog is not followed", async () => {
    put("box/a/x.toml", toml("a"));
    writeFileSync(join(dir, "stray.toml"), toml("stray"));
    symlinkSync(dir, join(catalogDir, "up"));
    const reading = await read();
    expect(identities(reading)).toEqual(["box/a/x.toml: a"]);
    expect(messages(reading)).toEqual([
      "warning up:null is a link to a folder that holds the catalog itself: not followed",
    ]);
  });

  test("a hard link is a second file", async () => {
    linkSync(put("a.toml", toml("a")), join(catalogDir, "b.toml"));
    expect(identities(await read())).toEqual(["a.toml: a", "b.toml: a"]);
  });
});

describe("what cannot be read", () => {
  test("a folder too deep is not looked into, and that is said", async () => {
    const deep = Array.from({ length: 16 }, () => "d").join("/");
    put(`${deep}/x.toml`, toml("a"));
    put(`${deep}/e/y.toml`, toml("b"));
    const reading = await read();
    expect(identities(reading)).toEqual([`${deep}/x.toml: a`]);
    expect(messages(reading)).toContain(
      `warning ${deep}/e:null is more than 16 folders deep: not looked into`,
    );
  });

  test("a large file, a pipe, bytes that are no text, a folder named like a file", async () => {
    put("good.toml", toml("good"));
    put("large.toml", `# ${"x".repeat(1 << 20)}\n${toml("large")}`);
    writeFileSync(join(catalogDir, "latin1.toml"), Buffer.from(toml("x", "# caf\xe9\n"), "latin1"));
    Bun.spawnSync(["mkfifo", join(catalogDir, "pipe.toml")]);
    put("folder.toml/x.toml", toml("inside"));
    const reading = await read();
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
    put("good.toml", toml("good"));
    chmodSync(put("secret.toml", toml("secret")), 0);
    put("shut/x.toml", toml("shut"));
    chmodSync(join(catalogDir, "shut"), 0);
    chmodSync(dir, 0o755);
    const script = `import { readCatalog } from "${import.meta.dir}/read.ts";
      const reading = await readCatalog({ catalogDir: ${JSON.stringify(catalogDir)} });
      console.log(JSON.stringify([reading.files.map((f) => f.path), reading.problems]));`;
    const command =
      process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const child = Bun.spawnSync([...command, process.execPath, "-e", script], {
      cwd: "/tmp",
      env: { PATH: process.env.PATH ?? "", HOME: dir, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
    });
    chmodSync(join(catalogDir, "shut"), 0o755);
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

describe("stillness", () => {
  test("a file that was just written is waited for", async () => {
    put("new.toml", toml("new"));
    const started = performance.now();
    expect(identities(await readCatalog({ catalogDir }))).toEqual(["new.toml: new"]);
    const tookMs = performance.now() - started;
    expect(tookMs).toBeGreaterThan(150);
    expect(tookMs).toBeLessThan(1500);
  });

  test("a file cut off and written again counts when it is whole", async () => {
    const file = put("a.toml", toml("a"));
    truncateSync(file);
    const reading = readCatalog({ catalogDir });
    const text = toml("a", "retired = true\n");
    for (let at = 0; at < text.length; at += 10) {
      appendFileSync(file, text.slice(at, at + 10));
      await Bun.sleep(50);
    }
    expect(declarationOf(await reading)?.retired).toBe(true);
  });

  test("one that never rests does not count, and does not hold up the others for ever", async () => {
    put("good.toml", toml("good"));
    const file = put("busy.toml", toml("busy"));
    const timer = setInterval(() => appendFileSync(file, "# more\n"), 20);
    try {
      const reading = await readCatalog({ catalogDir, maxWaitMs: 600 });
      expect(identities(reading)).toEqual(["busy.toml: null", "good.toml: good"]);
      expect(messages(reading)).toEqual([
        "error busy.toml:null is still being written after 0.6 s: not read yet",
      ]);
    } finally {
      clearInterval(timer);
    }
  });

  test("a rename into place is a change too, whatever its time; another machine's clock is not", async () => {
    const file = put("a.toml", toml("a"));
    utimesSync(file, 1, 1);
    const waits: number[] = [];
    let nowMs = Date.now();
    const clock: Clock = {
      now: () => new Date(nowMs),
      sleep: async (ms) => {
        waits.push(ms);
        nowMs += ms;
      },
    };
    expect(identities(await readCatalog({ catalogDir, clock }))).toEqual(["a.toml: a"]);
    expect(waits).toHaveLength(1);
    utimesSync(file, 4e9, 4e9);
    nowMs += 10_000;
    expect(identities(await readCatalog({ catalogDir, clock }))).toEqual(["a.toml: a"]);
    expect(waits).toHaveLength(1);
  });
});

test("tasks stay in document order, also when they are called by numbers", async () => {
  put("a.toml", toml("a", '[pty.2]\ncommand = "x"\n[pty.b]\ncommand = "y"\n[pty.1]\ncommand = "z"\n'));
  put("b.json", '{"identity":"b","role":"chief-of-staff","ptys":{"x":{"command":"1"},"7":{"command":"2"}}}');
  put("c.kdl", 'identity "c"; role "chief-of-staff"\npty "9" command="1"\npty "3" command="2"\n');
  const reading = await read();
  expect(reading.files.map((file) => file.entry?.declaration.tasks.map((task) => task.name))).toEqual([
    ["2", "b", "1"],
    ["x", "7"],
    ["9", "3"],
  ]);
});

test("reading changes nothing", async () => {
  put("box/a/agent.toml", toml("a"));
  await read();
  expect(readdirSync(catalogDir, { recursive: true }).sort()).toEqual(["box", "box/a", "box/a/agent.toml"]);
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CatalogFixture, identities, messages, toml } from "./catalog-fixture.ts";

let catalog: CatalogFixture;
beforeEach(() => {
  catalog = new CatalogFixture();
});
afterEach(() => catalog.remove());

test("good and bad files stand side by side, each with its line", async () => {
  catalog.put("box/a/agent.toml", toml("a", 'host = "box"\n'));
  catalog.put("box/b/agent.kdl", 'agent "b" {\n  role "worker"\n  supervisor "a"\n  retired "yes"\n}\n');
  catalog.put("box/c/agent.json", '{\n  "identity": "C",\n  "role": "worker",\n}\n');
  catalog.put("box/d/agent.json", '{\n  "identity": "D",\n  "host": "box",\n  "role": "worker"\n}\n');
  catalog.put("package.json", '{"name": "x"}');
  catalog.put("empty.kdl", "");
  const reading = await catalog.read();
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
    { path: "empty.kdl", claimedIdentity: null, hostWritten: false, parsed: true, good: false },
    { path: "package.json", claimedIdentity: null, hostWritten: false, parsed: true, good: false },
  ]);
  expect(reading.state).toBe("read");
});

describe("the catalog folder", () => {
  test("missing", async () => {
    rmSync(catalog.catalogDir, { recursive: true });
    expect(await catalog.read()).toEqual({
      state: "missing",
      files: [],
      problems: [{ severity: "error", path: ".", line: null, message: "the catalog folder is missing" }],
    });
    expect(existsSync(catalog.catalogDir)).toBe(false);
  });

  test("a file in its place", async () => {
    rmSync(catalog.catalogDir, { recursive: true });
    writeFileSync(catalog.catalogDir, "");
    const reading = await catalog.read();
    expect([reading.state, ...messages(reading)]).toEqual([
      "unreadable",
      "error .:null the catalog folder cannot be read: something on its path is not a folder (ENOTDIR)",
    ]);
  });

  test("empty", async () => {
    expect(await catalog.read()).toEqual({ state: "read", files: [], problems: [] });
  });

  test("a link to it", async () => {
    catalog.put("a.toml", toml("a"));
    renameSync(catalog.catalogDir, join(catalog.dir, "elsewhere"));
    symlinkSync("elsewhere", catalog.catalogDir);
    expect(identities(await catalog.read())).toEqual(["a.toml: a"]);
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
    catalog.put(path, toml("fabric", more));
    const reading = await catalog.read();
    const [file] = reading.files;
    expect(file?.entry?.declaration.host).toBe(host);
    expect(file?.hostWritten).toBe(more !== "");
    expect(reading.problems.map((p) => `${p.severity} ${p.line} ${p.message}`)).toEqual([...warnings]);
  });

  test("only one of identity and role is an error whatever the folders say", async () => {
    catalog.put("box/fabric/x.toml", 'role = "worker"\nsupervisor = "b"\n');
    expect(messages(await catalog.read())).toEqual([
      "error box/fabric/x.toml:1 identity is missing: a declaration has both identity and role",
    ]);
  });
});

test("tasks stay in document order, also when they are called by numbers", async () => {
  catalog.put(
    "a.toml",
    toml("a", '[pty.2]\ncommand = "x"\n[pty.b]\ncommand = "y"\n[pty.1]\ncommand = "z"\n'),
  );
  catalog.put(
    "b.json",
    '{"identity":"b","role":"chief-of-staff","ptys":{"x":{"command":"1"},"7":{"command":"2"}}}',
  );
  catalog.put("c.kdl", 'identity "c"; role "chief-of-staff"\npty "9" command="1"\npty "3" command="2"\n');
  const reading = await catalog.read();
  expect(reading.files.map((file) => file.entry?.declaration.tasks.map((task) => task.name))).toEqual([
    ["2", "b", "1"],
    ["x", "7"],
    ["9", "3"],
  ]);
});

test("reading changes nothing", async () => {
  catalog.put("box/a/agent.toml", toml("a"));
  await catalog.read();
  expect(readdirSync(catalog.catalogDir, { recursive: true }).sort()).toEqual([
    "box",
    "box/a",
    "box/a/agent.toml",
  ]);
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHome, type Home } from "./binary.ts";
import { snapshot } from "./kit.ts";

let home: Home;
let root: string;
beforeEach(async () => {
  home = createHome();
  root = join(home.path, "n");
  await home.convoy(["init", root]);
});
afterEach(() => home.remove());

const validate = (...words: string[]) =>
  home.convoy(["validate", root, ...words], { env: { CONVOY_HOST: "box" } });

function put(path: string, text: string): void {
  const file = join(root, "catalog", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** What a ledger of `identity`, launched from `path`, has to say here. */
function putLedger(identity: string, path: string): void {
  const declaration = {
    identity,
    role: "worker",
    supervisor: "boss",
    host: "box",
    workspace: null,
    harness: "claude",
    bin: null,
    model: null,
    transport: "mcp",
    persona: null,
    strategy: "permanent",
    retired: false,
    prefix: null,
    env: {},
    render: { file: [], dir: [] },
    tasks: [],
  };
  const agent = `box.${identity}`;
  const spec = {
    name: agent,
    agent,
    identity,
    task: "agent",
    main: true,
    command: "true",
    args: [],
    displayCommand: "true",
    cwd: "/",
    env: {},
    tags: {},
    binary: null,
  };
  const ledger = {
    v: 1,
    agent,
    identity,
    task: "agent",
    host: null,
    child: null,
    boot: "b",
    version: "0",
    protocol: 1,
    launchId: "l",
    launchedAt: "2026-11-30T10:00:00.000Z",
    declaration: { path, hostWritten: true, declaration },
    spec,
    baseEnv: {},
    tags: {},
    endedBy: null,
    restarts: 0,
    end: null,
    previous: [],
    reportedEnd: null,
    failedLaunch: false,
  };
  const folder = join(root, "pty/.convoy/sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${agent}.json`), JSON.stringify(ledger));
}

test("every problem at its place, sorted, with a summary; nothing is changed", async () => {
  put("good/a/agent.toml", 'host = "good"\nidentity = "a"\nrole = "worker"\nsupervisor = "boss"\n');
  put("notes.json", '{"title": "not a declaration"}\n');
  put("bad.toml", 'role = "worker"\nsupervisor = "boss"\nidentity = "Bad_One"\n');
  put("half.json", '{\n  "identity": "half"\n}\n');
  put("torn.kdl", 'identity "torn"\nrole "worker\n');
  put("one.toml", 'role = "chief-of-staff"\nidentity = "same"\n');
  put("two.kdl", '\nidentity "same"\nrole "worker"\n');
  put("long.toml", `role = "chief-of-staff"\nidentity = "${"x".repeat(90)}"\n`);
  put("p.toml", 'identity = "p"\nrole = "worker"\nsupervisor = "q"\n');
  put("q.toml", 'role = "worker"\nidentity = "q"\nsupervisor = "p"\n');
  put("p.sync-conflict-20261130-101112-ABCDEFG.toml", "");
  putLedger("was", "emptied.toml");
  put("emptied.toml", "\n");
  const before = snapshot(root);
  const found = await validate();
  expect(snapshot(root)).toEqual(before);
  const socket = join(root, "pty", `box.${"x".repeat(90)}.ding.sock`);
  expect(found.stdout.split("\n")).toEqual([
    'bad.toml:3: error: identity "Bad_One" is not an identity: lower-case letters, digits, "." and "-", starting and ending with a letter or digit',
    'emptied.toml: warning: its supervisor "boss" is declared nowhere in this catalog',
    "emptied.toml:1: error: declares nothing any more, neither identity nor role: its last good declaration (was) stays in force; write it back, or end the agent with `convoy down --agent was`",
    'good/a/agent.toml:2: warning: its supervisor "boss" is declared nowhere in this catalog',
    "half.json:2: error: role is missing: a declaration has both identity and role",
    `long.toml:2: error: socket path ${socket} has ${socket.length} bytes, at most 103 are possible: take a name that is ${socket.length - 103} shorter, or a network in a shorter path`,
    'one.toml:2: error: identity "same" is declared in one.toml and two.kdl: keep one of them; neither is acted on',
    "p.sync-conflict-20261130-101112-ABCDEFG.toml: warning: is a conflict copy left by a sync tool: not read; merge what you need and delete it",
    "p.toml:1: warning: supervisors go in a circle (p -> q -> p): started in the order of their names",
    "torn.kdl:2: error: is not valid KDL: Unexpected EOF inside string",
    'two.kdl:2: error: identity "same" is declared in one.toml and two.kdl: keep one of them; neither is acted on',
    "two.kdl:3: warning: no supervisor is named: this worker reports to nobody",
    "",
  ]);
  expect([found.code, found.stderr]).toEqual([1, "6 declarations in 11 files: 7 errors, 5 warnings.\n"]);
});

test("--json; warnings alone are no failure", async () => {
  put("a.toml", 'identity = "a"\nrole = "worker"\n');
  const { code, stdout, stderr } = await validate("--json");
  expect([code, JSON.parse(stdout), stderr]).toEqual([
    0,
    {
      network: root,
      host: "box",
      files: 1,
      declarations: 1,
      errors: 0,
      warnings: 1,
      problems: [
        {
          severity: "warning",
          path: "a.toml",
          line: 2,
          message: "no supervisor is named: this worker reports to nobody",
        },
      ],
    },
    "",
  ]);
  expect((await validate()).stderr).toBe("1 declaration in 1 file: 0 errors, 1 warning.\n");
});

test("nothing wrong, nothing there, no catalog, no network", async () => {
  expect(await validate()).toEqual({
    code: 0,
    stdout: "",
    stderr: `0 declarations in 0 files, no problems.\n  convoy add worker --identity my-agent --network ${root}\n`,
  });
  rmSync(join(root, "catalog"), { recursive: true });
  expect(await validate()).toEqual({
    code: 1,
    stdout: ".: error: the catalog folder is missing\n",
    stderr: "0 declarations in 0 files: 1 error, 0 warnings.\n",
  });
  expect(await home.convoy(["validate", "none"])).toMatchObject({ code: 3, stdout: "" });
  expect(await validate("--jsn")).toEqual({
    code: 2,
    stdout: "",
    stderr: "convoy: validate: unknown flag --jsn; did you mean --json?\n  next: convoy validate --help\n",
  });
});

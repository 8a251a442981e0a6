import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHome, type Home, namedNetwork } from "./binary.ts";
import { snapshot } from "./kit.ts";

let home: Home;
let root: string;
const box = { env: { CONVOY_HOST: "box" } };
beforeEach(async () => {
  home = createHome();
  root = namedNetwork(home);
  await home.convoy(["init"]);
});
afterEach(() => home.remove());

const add = (...words: string[]) => home.convoy(["add", ...words], box);
const inCatalog = (path: string) => join(root, "catalog", path);
const refused = (code: number, ...lines: string[]) => ({ code, stdout: "", stderr: `${lines.join("\n")}\n` });

const NEXT = "Next, see what would happen, and start it:\n  convoy plan\n  convoy up\n";

test("writes the file, host first, and says what to type next", async () => {
  const file = inCatalog("box/a/agent.toml");
  expect(await add("worker", "--identity", "a", "--supervisor", "boss")).toEqual({
    code: 0,
    stdout: `${file}\n`,
    stderr: NEXT,
  });
  expect(readFileSync(file, "utf8")).toBe(
    'host = "box"\nidentity = "a"\nrole = "worker"\nsupervisor = "boss"\n',
  );
});

test("every member, in each format, reads back the same", async () => {
  const members =
    "--harness codex --bin /opt/c --model gpt-5 --supervisor boss --strategy batch --transport mcp";
  for (const format of ["toml", "kdl", "json"]) {
    const words = ["worker", "--identity", format, "--dir", ".", "--env", "A=1", "--env", "B=x 'y' \"z\"="];
    const added = await add(...words, ...members.split(" "), "--format", format);
    expect([added.code, added.stdout]).toEqual([0, `${inCatalog(`box/${format}/agent.${format}`)}\n`]);
  }
  expect(JSON.parse(readFileSync(inCatalog("box/json/agent.json"), "utf8"))).toEqual({
    host: "box",
    identity: "json",
    role: "worker",
    supervisor: "boss",
    workspace: home.path,
    harness: "codex",
    bin: "/opt/c",
    model: "gpt-5",
    transport: "mcp",
    strategy: "batch",
    env: { A: "1", B: "x 'y' \"z\"=" },
  });
  const { stdout } = await home.convoy(["validate", "--json"], box);
  expect(JSON.parse(stdout)).toMatchObject({
    declarations: 3,
    problems: Array(3).fill({ message: 'its supervisor "boss" is declared nowhere in this catalog' }),
  });
});

test("--command writes an explicit task; a folder that is not there is a doubt, not a refusal", async () => {
  const added = await add(
    "worker",
    "--identity",
    "a",
    "--command",
    "sleep 9",
    "--dir",
    "nope",
    "--model",
    "m",
  );
  expect(added).toEqual({
    code: 0,
    stdout: `${inCatalog("box/a/agent.toml")}\n`,
    stderr: `warning: no supervisor is named: this worker reports to nobody
warning: there is no folder ${home.path}/nope: the agent waits until it is there
warning: --command is the whole command line: --bin and --model change nothing beside it
${NEXT}`,
  });
  const written = readFileSync(inCatalog("box/a/agent.toml"), "utf8");
  expect(written).toEndWith('\n[pty.agent]\ncommand = "sleep 9"\n');
  const under = ["chief-of-staff", "--identity", "b", "--dir", join(root, "worktrees/b")];
  expect((await add(...under)).stderr).toBe(NEXT);
});

test("an agent of another machine", async () => {
  const added = await add(
    "chief-of-staff",
    "--identity",
    "a",
    "--host",
    "Shed.example.com",
    "--dir",
    "/none",
  );
  expect(added).toEqual({
    code: 0,
    stdout: `${inCatalog("shed/a/agent.toml")}\n`,
    stderr: "A supervisor on shed starts it once the file has reached that machine.\n  convoy plan\n",
  });
});

test("--dry-run prints the file and changes nothing", async () => {
  const before = snapshot(home.path);
  const file = inCatalog("box/a/agent.toml");
  const text = 'host = "box"\nidentity = "a"\nrole = "chief-of-staff"\n';
  const words = ["chief-of-staff", "--identity", "a", "--dry-run"];
  expect(await add(...words)).toEqual({ code: 0, stdout: text, stderr: `Would write ${file}:\n` });
  const { code, stdout, stderr } = await add(...words, "--json");
  expect([code, JSON.parse(stdout), stderr]).toEqual([
    0,
    {
      network: root,
      host: "box",
      identity: "a",
      busId: "box.a",
      path: "box/a/agent.toml",
      file,
      text,
      written: false,
      warnings: [],
    },
    "",
  ]);
  expect(snapshot(home.path)).toEqual(before);
  const really = await add("worker", "--identity", "a", "--json");
  expect(JSON.parse(really.stdout)).toMatchObject({
    written: true,
    warnings: ["no supervisor is named: this worker reports to nobody"],
  });
});

test("a file that is there is replaced by --force alone, in its own format", async () => {
  await add("worker", "--identity", "a");
  const before = snapshot(root);
  const again = ["worker", "--identity", "a", "--model", "m"];
  const there = "box/a/agent.toml exists already; --force replaces it";
  expect(await add(...again)).toEqual(refused(1, `convoy: ${there}`));
  expect(await add(...again, "--dry-run")).toEqual(refused(1, `convoy: ${there}`));
  expect(await add(...again, "--force", "--format", "kdl")).toEqual(
    refused(1, `convoy: ${there} only with --format toml`),
  );
  expect(snapshot(root)).toEqual(before);
  expect((await add(...again, "--force")).code).toBe(0);
  expect(readFileSync(inCatalog("box/a/agent.toml"), "utf8")).toContain('model = "m"');
});

test("what another file has already is refused, with the file", async () => {
  mkdirSync(inCatalog("team"));
  writeFileSync(
    inCatalog("team/x.toml"),
    'identity = "a"\nrole = "worker"\nhost = "box"\nprefix = "box.p"\n',
  );
  writeFileSync(inCatalog("team/y.json"), '{"identity": "Broken", "role": "worker"}\n');
  const before = snapshot(root);
  expect(await add("worker", "--identity", "a", "--force")).toEqual(
    refused(
      1,
      'convoy: identity "a" is declared already, in team/x.toml: nothing was written',
      "  next: choose another --identity, or edit that file",
    ),
  );
  expect(await add("worker", "--identity", "broken")).toEqual(
    refused(
      1,
      'convoy: identity "broken" is declared already, in team/y.json: nothing was written',
      "  next: choose another --identity, or edit that file",
    ),
  );
  expect(await add("worker", "--identity", "p.a")).toEqual(
    refused(
      1,
      'convoy: nothing was written: session id "box.p.a" is declared in team/x.toml and box/p.a/agent.toml: keep one of them; neither is acted on',
    ),
  );
  expect(snapshot(root)).toEqual(before);
});

test("impossible values are wrong usage, all named at once", async () => {
  const before = snapshot(root);
  const help = "  next: convoy add --help";
  const table: [string[], string][] = [
    [["worker"], "--identity <id> is missing"],
    [["--identity", "a"], "<role> is missing"],
    [
      ["worker", "--identity", "a", "--harness", "clod"],
      '--harness is "clod"; it can be claude, codex, opencode, pi',
    ],
    [["worker", "--identity", "a", "--format", "xml"], '--format is "xml"; it can be toml, kdl, json'],
    [["worker", "--identity", "a", "--env", "1=2"], '--env is "1=2"; it is written NAME=value'],
    [["worker", "--identity", "a", "--env", "A=1", "--env", "A=2"], "--env A is given twice"],
    [["worker", "--identity", "inbox"], 'identity "inbox" is a word the message bus keeps for itself'],
    [
      ["wroker", "--identity", "a", "--bin", "a b"],
      'role must be chief-of-staff, supervisor, worker or technical-manager, found the string "wroker"; did you mean "worker"?; bin must be letters, digits, ".", "_", "/" and "-" only, no arguments, found "a b"',
    ],
    [
      ["worker", "--identity", "a", "--host", "a b"],
      'host "a b" is not a host\'s name (letters, digits, "-"; the first label counts)',
    ],
    [
      ["worker", "--identity", "a", "--model", "m;n"],
      'model must be letters, digits, ".", "_", ":", "/" and "-" only, found "m;n"',
    ],
  ];
  for (const [words, message] of table)
    expect(await add(...words)).toEqual(refused(2, `convoy: add: ${message}`, help));
  const long = "x".repeat(80);
  const socket = join(root, "pty", `box.${long}.ding.sock`);
  expect(await add("worker", "--identity", long)).toEqual(
    refused(
      2,
      `convoy: add: socket path ${socket} has ${socket.length} bytes, at most 103 are possible: take a name that is ${socket.length - 103} shorter, or a network in a shorter path`,
    ),
  );
  expect(snapshot(root)).toEqual(before);
});

test("no network, no catalog: nothing is created", async () => {
  expect(await add("worker", "--identity", "a", "--network", "work")).toEqual(
    refused(
      3,
      `convoy: no network at ${namedNetwork(home, "work")}; networks here: default`,
      "  next: convoy init work",
    ),
  );
  expect(existsSync(namedNetwork(home, "work"))).toBe(false);
  rmSync(join(root, "catalog"), { recursive: true });
  expect(await add("worker", "--identity", "a")).toEqual(
    refused(3, `convoy: no catalog at ${root}/catalog`, "  next: convoy init"),
  );
  expect(existsSync(join(root, "catalog"))).toBe(false);
});

test("a file where a folder should be", async () => {
  writeFileSync(inCatalog("box"), "");
  const { code, stderr } = await add("worker", "--identity", "a");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^convoy: box\/a\/agent\.toml cannot be written: ENOTDIR.*\n$/),
  ]);
});

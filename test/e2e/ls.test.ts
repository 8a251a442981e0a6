/** What `ls` says of agents in every state, with real processes behind each. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentRow, ListDocument } from "../../src/agent-state.ts";
import { recordFixture } from "../fakes/ledgers.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, HOST, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

async function list(): Promise<ListDocument> {
  const { code, stdout } = await net.convoy(["ls", "--json"]);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

async function row(identity: string): Promise<AgentRow> {
  const { agents } = await list();
  const found = agents.filter((agent) => agent.identity === identity);
  expect(found.length).toBe(1);
  return found[0]!;
}

const stateOf = ({ identity, state, status, reason }: AgentRow) => [identity, state, status, reason];

/** A record as pty's own program leaves it. */
function writeRecord(name: string, members: object): void {
  writeFileSync(join(net.pty, `${name}.json`), JSON.stringify(recordFixture(members)));
}

test("the whole document, of an agent with a second task", async () => {
  net.declare("a", { tables: ["[pty.web]", 'command = "exec agent web"'] });
  writeRecord("scratch", { exitCode: 0, exitedAt: new Date().toISOString() });
  await net.once();
  const main = net.ledger("a");
  const web = net.ledger("a", "web");
  const of = (ledger: typeof main) => ({
    pid: ledger?.child?.pid ?? 0,
    hostPid: ledger?.host?.pid ?? 0,
    startedAt: ledger?.launchedAt ?? "",
    exitCode: null,
  });
  expect(await list()).toEqual({
    network: net.root,
    host: HOST,
    supervisor: null,
    agents: [
      {
        identity: "a",
        busId: "box.a",
        role: "chief-of-staff",
        host: HOST,
        state: "running",
        reason: "runs",
        changed: false,
        session: "box.a",
        ...of(main),
        status: "running",
        restarts: 0,
        sessions: [
          { name: "box.a", task: "agent", role: "agent", state: "running", ...of(main) },
          { name: "box.a.web", task: "web", role: null, state: "running", ...of(web) },
        ],
      },
    ],
    undeclared: [{ session: "scratch", status: "exited", pid: null, command: "sleep 1", cwd: "/" }],
    problems: [],
  });
});

test("agents that do not run say why, each with the command to type", async () => {
  net.declare("parked", { command: "agent parked exit 3" });
  net.declare("held");
  net.declare("waits", { lines: ['workspace = "/tmp/cv-none"'] });
  net.declare("far", { host: "shed" });
  net.declare("batch", { command: "agent batch exit 0", lines: ['strategy = "batch"'] });
  net.declare("gone", { lines: ["retired = true"] });
  net.declare("twin");
  net.declare("twin", { path: "box/twin-copy/agent.toml" });
  net.declare("new");
  await net.once(["--fast-fail-limit", "1"]);
  await until("the batch to be done", async () => (await row("batch")).state === "done");
  await until("the other to be parked", async () => {
    await net.once(["--fast-fail-limit", "1"]);
    return (await row("parked")).state === "flapping";
  });
  await net.convoy(["down", "--agent", "held"]);
  const { agents, problems } = await list();
  const conflict =
    'identity "twin" is declared in box/twin-copy/agent.toml and box/twin/agent.toml: keep one of them; neither is acted on';
  expect(agents.map(stateOf)).toEqual([
    ["batch", "done", "exited", "finished with exit code 0"],
    ["far", "elsewhere", null, "declared for host shed"],
    ["gone", "retired", null, "retired, nothing running"],
    ["held", "held", "exited", expect.stringMatching(/^held by down.* since /)],
    ["new", "running", "running", "runs"],
    ["parked", "flapping", "exited", "failed once; to try again: convoy reset parked"],
    ["twin", "conflict", null, conflict],
    ["waits", "waiting", null, "waits for workspace /tmp/cv-none"],
  ]);
  expect(agents.find(({ identity }) => identity === "parked")).toMatchObject({ exitCode: 3, restarts: 1 });
  expect(problems.map(({ severity, path }) => [severity, path])).toContainEqual([
    "error",
    "box/twin/agent.toml",
  ]);

  const { code, stdout, stderr } = await net.convoy(["ls"]);
  const lines = stdout.split("\n");
  const noted = lines.slice(1, 9).map((line) => [line.split(" ")[0], line.trim().split(/ {2,}/).at(-1)]);
  expect(code).toBe(0);
  expect(lines[0]?.trim().split(/\s+/)).toEqual(["AGENT", "STATE", "PID", "SINCE", "RESTARTS", "NOTE"]);
  expect(Object.fromEntries(noted)).toMatchObject({
    far: "on shed",
    held: "convoy release held",
    parked: "convoy reset parked",
    waits: "waits for workspace /tmp/cv-none",
  });
  expect(lines.at(-2)).toBe(`No supervisor runs; to start one: convoy up --network ${net.root}`);
  expect(stderr).toContain(`convoy: box/twin/agent.toml:2: ${conflict}`);
});

test("an agent whose host was killed, one that cannot be told, one that lost its declaration", async () => {
  net.declare("deaf", { command: `trap "" HUP; while :; do agent x exit 0; sleep 1; done` });
  net.declare("lost");
  net.declare("a");
  await net.once();
  kill((await row("deaf")).hostPid);
  rmSync(join(net.catalog, HOST, "lost"), { recursive: true });
  writeRecord("box.foreign", { tags: { role: "agent", "convoy.agent": "box.foreign" } });
  const orphaned = await until("the host to be gone", async () => {
    const deaf = await row("deaf");
    return deaf.hostPid === null && deaf;
  });
  const pid = net.ledger("deaf")?.child?.pid ?? null;
  expect([...stateOf(orphaned), orphaned.pid]).toEqual([
    "deaf",
    "orphaned",
    "running",
    "runs without its session host",
    pid,
  ]);
  expect(stateOf(await row("lost"))).toEqual(["lost", "running", "running", "no declaration"]);
  expect(stateOf(await row("foreign"))).toEqual(["foreign", "unknown", "vanished", "no declaration"]);
  await net.convoy(["down", "--agent", "lost"]);
  expect(stateOf(await row("lost"))).toEqual(["lost", "held", "exited", "no declaration"]);
});

test("a declaration that differs from what runs, one that moved, and the supervisor", async () => {
  for (const identity of ["a", "b"]) net.declare(identity);
  const supervisor = await net.up();
  const pids = [await net.running("a"), await net.running("b")];
  net.declare("a", { command: "exec agent a again" });
  net.declare("b", { host: "shed", path: "box/b/agent.toml" });
  const { supervisor: said, agents } = await list();
  expect(said).toEqual({ pid: supervisor.pid });
  expect(agents.map(({ busId, state, changed, pid }) => [busId, state, changed, pid])).toEqual([
    ["box.a", "running", true, pids[0]!],
    ["shed.b", "elsewhere", false, pids[1]!],
  ]);
  const { stdout } = await net.convoy(["ls"]);
  expect(stdout).toContain("changed; convoy restart a");
  expect(stdout).toContain("now on shed, runs here; convoy down --agent b");
  expect(stdout).toContain(`Supervised by pid ${supervisor.pid}: ${net.root}`);
});

test("`convoy` alone lists; it touches nothing, and waits for no session host", async () => {
  net.declare("a");
  await net.once();
  const host = (await row("a")).hostPid;
  kill(host, "SIGSTOP");
  try {
    const before = snapshot(net.root);
    const alone = await net.convoy([]);
    expect(alone).toEqual({ ...(await net.convoy(["ls"])), stdout: expect.stringContaining("running") });
    expect(snapshot(net.root)).toEqual(before);
  } finally {
    kill(host, "SIGCONT");
  }
});

test("a table fits 80 columns; no network is exit 3, an empty one is said", async () => {
  expect(await net.convoy(["ls"])).toEqual({
    code: 0,
    stdout: `\nNo supervisor runs; to start one: convoy up --network ${net.root}\n`,
    stderr: `No agent is declared in ${net.catalog}.\n  convoy add worker --identity my-agent\n`,
  });
  net.declare("an-agent-with-a-name", { lines: ['workspace = "/tmp/cv-none/of/a/rather/long/path"'] });
  net.declare("a", { tables: ["[pty.web]", 'command = "true"'] });
  let shown = "";
  const child = Bun.spawn([BINARY, "ls", "--network", net.root], {
    cwd: net.home,
    env: net.env({ TERM: "xterm" }),
    terminal: {
      cols: 80,
      rows: 24,
      data: (_terminal, bytes) => {
        shown += Buffer.from(bytes).toString();
      },
    },
  });
  await child.exited;
  await until("the table", () => shown.includes("No supervisor"));
  const wide = Bun.stripANSI(shown)
    .split("\r\n")
    .filter((line) => line.startsWith("a"))
    .map((line) => line.length);
  expect([wide.length, wide.every((columns) => columns <= 80)]).toEqual([2, true]);
  expect((await net.convoy(["ls", join(net.home, "other")])).code).toBe(2);
  rmSync(net.root, { recursive: true });
  expect(await net.convoy(["ls"])).toEqual({
    code: 3,
    stdout: "",
    stderr: `convoy: no network at ${net.root}\n  next: convoy init ${net.root}\n`,
  });
});

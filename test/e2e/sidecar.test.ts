/** The notification sidecar: it rings beside its agent, is healed alone, and never costs the agent its session. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionRow } from "../../src/agent-state.ts";
import { DEADLINE_MS, isAlive, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
  net.program("claude", '#!/bin/sh\necho "$ST_AGENT $$" >>"$HOME/runs.log"\nexec sleep 100000\n');
});
afterEach(() => net.remove());

/** Notes each start: its pid, its wiring, its arguments. While `st-fails` is there it ends at once. */
const ST = `#!/bin/sh
echo "$$ $ST_AGENT $PTY_SESSION $ST_ROOT $*" >>"$HOME/st.log"
[ ! -e "$HOME/st-fails" ] || { echo "no bus"; exit 7; }
exec sleep 100000
`;

const failing = () => join(net.home, "st-fails");

/** Each start of the sidecar's program, without its pid. */
function rings(): string[] {
  const path = join(net.home, "st.log");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.slice(line.indexOf(" ") + 1));
}

const ring = (identity: string) =>
  `box.${identity} box.${identity}.ding ${net.root}/smalltalk ding box.${identity} --identity box.${identity} --root ${net.root}/smalltalk`;

async function sessions(): Promise<Record<string, Partial<SessionRow>>> {
  const { agents } = JSON.parse((await net.convoy(["ls", "--json"])).stdout);
  const rows = agents.flatMap((agent: { sessions: SessionRow[] }) => agent.sessions) as SessionRow[];
  return Object.fromEntries(
    rows.map(({ name, task, role, state, pid }) => [name, { task, role, state, pid }] as const),
  );
}

test("it is started beside its agent, wired to the bus, and listed with it", async () => {
  net.program("st", ST);
  net.declare("a", { command: null });
  net.declare("codex-like", {
    command: null,
    lines: ['harness = "codex"', 'bin = "claude"', 'transport = "mcp"'],
  });
  net.declare("mcp", { command: null, lines: ['transport = "mcp"'] });
  net.declare("own");
  expect(await net.once()).toMatchObject({ code: 0, summary: "launched 4" });
  await until("both to ring", () => rings().length === 2);
  expect(rings().sort()).toEqual([ring("a"), ring("codex-like")]);
  const found = await sessions();
  expect(Object.keys(found).sort()).toEqual([
    "box.a",
    "box.a.ding",
    "box.codex-like",
    "box.codex-like.ding",
    "box.mcp",
    "box.own",
  ]);
  expect(found["box.a.ding"]).toEqual({
    task: "ding",
    role: "ding",
    state: "running",
    pid: net.pid("a", "ding"),
  });
  expect((await net.convoy(["ls"])).stdout).toMatch(/^a +running .*\n {2}ding +running +\d+/m);
  expect((await net.convoy(["down"])).code).toBe(0);
  expect([net.pid("a"), net.pid("a", "ding")]).toEqual([null, null]);
});

test("one that was killed is healed alone: the agent is the same process", async () => {
  net.program("st", ST);
  net.declare("a", { command: null });
  await net.up();
  const agent = await net.running("a");
  const first = await net.running("a", null, "ding");
  kill(first);
  const second = await net.running("a", first, "ding");
  const about = { identity: "a", busId: "box.a", session: "box.a.ding" };
  expect(await net.event("heal", ({ pid }) => pid === second)).toMatchObject({ ...about, task: "ding" });
  expect(net.said("death")).toMatchObject([about]);
  expect([net.pid("a"), isAlive(agent), net.said("respawn"), net.said("launch").length]).toEqual([
    agent,
    true,
    [],
    2,
  ]);
  // Its host killed with it, which leaves no exit: the same.
  kill(net.ledger("a", "ding")?.host?.pid ?? null);
  kill(second);
  await net.running("a", second, "ding");
  expect(net.pid("a")).toBe(agent);
});

test("one that cannot stay up is parked alone, said with what to type, and un-parked by that", async () => {
  net.program("st", ST);
  writeFileSync(failing(), "");
  net.declare("a", { command: null });
  await net.up();
  const agent = await net.running("a");
  const parked = await net.event("session_flapping");
  expect(parked).toMatchObject({ identity: "a", session: "box.a.ding", counter: 3, limit: 3, window: 60 });
  await until("its last run to be over", () => rings().length === 4 && net.ledger("a", "ding")?.end);
  expect(net.ledger("a", "ding")?.tags["strategy.status"]).toBe("flapping");

  // Whatever else happens, it stays parked and the agent stays up.
  net.declare("b");
  await net.running("b");
  expect((await net.plan()).agents[0]).toMatchObject({ identity: "a", disposition: "adopt", blocked: null });
  expect((await sessions())["box.a.ding"]).toMatchObject({ state: "flapping" });
  const listed = await net.convoy(["ls"]);
  expect(listed.stdout).toMatch(/^a +running .*\n {2}ding +flapping +- .*exit code 7; convoy reset a$/m);
  expect([net.pid("a"), rings().length, net.record("a").tags["strategy.status"]]).toEqual([
    agent,
    4,
    undefined,
  ]);

  rmSync(failing());
  expect(await net.convoy(["reset", "a"])).toMatchObject({
    code: 0,
    stdout: "box.a.ding: no longer parked\n",
  });
  const healed = await net.running("a", null, "ding");
  await net.event("heal", ({ pid }) => pid === healed);
  expect([net.pid("a"), net.said("respawn")]).toEqual([agent, []]);
});

test("a parked one is no reason for up --once to fail; nor does a dying agent un-park it", async () => {
  net.program("st", ST);
  writeFileSync(failing(), "");
  net.declare("a", { command: null });
  const loop = await net.up();
  const agent = await net.running("a");
  await net.event("session_flapping");
  await until("its last run to be over", () => rings().length === 4 && net.ledger("a", "ding")?.end);
  kill(agent);
  const again = await net.running("a", agent);
  await net.event("respawn", ({ session }) => session === "box.a");
  loop.signal("SIGTERM");
  await loop.ended;
  expect(await net.once()).toMatchObject({ code: 0, summary: "adopted 1" });
  expect([net.pid("a"), rings().length]).toEqual([again, 4]);
});

test("without st the agent runs and it is said once; when st appears the next pass starts it", async () => {
  net.declare("a", { command: null });
  const path = { PATH: `${net.bin}:/usr/bin:/bin` };
  await net.up(["--interval", "0.1"], path);
  const agent = await net.running("a");
  net.declare("b");
  await net.running("b");
  const message = "box.a runs without its notification sidecar: st is not on its PATH";
  const warnings = () => net.said("warning").filter((event) => event.message === message);
  expect(warnings()).toMatchObject([{ busId: "box.a" }]);
  expect(Object.keys(await sessions())).toEqual(["box.a", "box.b"]);
  net.program("st", ST);
  const sidecar = await net.running("a", null, "ding");
  await net.event("heal", ({ session, pid }) => session === "box.a.ding" && pid === sidecar);
  expect([net.pid("a"), warnings().length, rings()]).toEqual([agent, 1, [ring("a")]]);

  // Gone again, and killed: the agent runs on without it.
  rmSync(join(net.bin, "st"));
  kill(sidecar);
  await until("it to be said again", () => warnings().length === 2);
  expect([net.pid("a"), net.pid("a", "ding")]).toEqual([agent, null]);
});

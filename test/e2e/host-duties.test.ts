/** What a session host owes while it lives and when it ends, and what becomes of its agent without it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileIdentity } from "../../src/system/file-identity.ts";
import { processTable } from "../../src/system/processes.ts";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, HOST, isAlive, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const registryFile = (identity: string, suffix: string) => join(net.pty, `${HOST}.${identity}${suffix}`);
const hostPid = (identity: string) => net.ledger(identity)?.host?.pid ?? 0;

/** Record, socket and pid file say what they should. */
function isWhole(identity: string): boolean {
  const record = readJson(registryFile(identity, ".json"));
  const pid = registryFile(identity, ".pid");
  const socket = lstatSync(registryFile(identity, ".sock"), { throwIfNoEntry: false });
  return (
    record?.daemonPid === hostPid(identity) &&
    record?.tags?.role === "agent" &&
    existsSync(pid) &&
    readFileSync(pid, "utf8") === String(hostPid(identity)) &&
    socket?.isSocket() === true &&
    fileIdentity(registryFile(identity, ".sock")) === net.ledger(identity)?.socket
  );
}

function readJson(path: string): { daemonPid?: number; tags?: Record<string, string> } | null {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A file system may give its number to the new socket too. */
const LEAVE_SOCKET = `Bun.listen({ unix: process.argv[1], socket: { data() {} } }); process.kill(process.pid, "SIGKILL");`;

/** What can befall each file; by name. */
const LOSSES: Readonly<Record<string, (identity: string) => void>> = {
  "record deleted": (identity) => rmSync(registryFile(identity, ".json")),
  "record emptied": (identity) => truncateSync(registryFile(identity, ".json"), 0),
  "record torn": (identity) => truncateSync(registryFile(identity, ".json"), 40),
  "socket deleted": (identity) => rmSync(registryFile(identity, ".sock")),
  "socket replaced by a file": (identity) => {
    rmSync(registryFile(identity, ".sock"));
    writeFileSync(registryFile(identity, ".sock"), "");
  },
  "socket replaced by another's, who is gone": (identity) => {
    rmSync(registryFile(identity, ".sock"));
    Bun.spawnSync([process.execPath, "-e", LEAVE_SOCKET, registryFile(identity, ".sock")]);
  },
  "pid file deleted": (identity) => rmSync(registryFile(identity, ".pid")),
  "pid file emptied": (identity) => truncateSync(registryFile(identity, ".pid"), 0),
  "pid file torn": (identity) => writeFileSync(registryFile(identity, ".pid"), "1x"),
  "all deleted": (identity) => {
    for (const suffix of [".json", ".sock", ".pid"]) rmSync(registryFile(identity, suffix));
  },
};
const VICTIMS: readonly (readonly [identity: string, what: string])[] = Object.keys(LOSSES).map(
  (what, index) => [`v${index}`, what],
);

const TEN_SECONDS_MS = 10_000;

async function startVictims(): Promise<Map<string, number>> {
  for (const [identity] of VICTIMS) net.declare(identity);
  expect((await net.once()).code).toBe(0);
  await until("every file to be there", () => VICTIMS.every(([identity]) => isWhole(identity)));
  return new Map(VICTIMS.map(([identity]) => [identity, net.pid(identity) ?? 0]));
}

/** Lets every file suffer its loss; gives how long each took to be back, in ms. */
async function loseAll(): Promise<Record<string, number>> {
  const since = performance.now();
  for (const [identity, what] of VICTIMS) LOSSES[what]?.(identity);
  const took: Record<string, number> = {};
  await until("every file to be back", () => {
    for (const [identity, what] of VICTIMS)
      if (isWhole(identity)) took[what] ??= Math.round(performance.now() - since);
    return Object.keys(took).length === VICTIMS.length;
  });
  return took;
}

/** Answers on its socket, with the size and process that it has. */
async function answers(identity: string): Promise<boolean> {
  const { code } = await net.convoy(["peek", identity]);
  return code === 0;
}

test("with a supervisor, what is deleted, emptied or torn is back at once, and it is the same agent", async () => {
  const pids = await startVictims();
  await net.up();
  const took = await loseAll();
  if (process.env.CONVOY_TEST_TIMES !== undefined) console.log(took);
  expect(Math.max(...Object.values(took))).toBeLessThan(TEN_SECONDS_MS);
  for (const [identity] of VICTIMS) expect([identity, await answers(identity)]).toEqual([identity, true]);
  expect(new Map(VICTIMS.map(([identity]) => [identity, net.pid(identity) ?? 0]))).toEqual(pids);
});

test("without a supervisor it is back within ten seconds, by the host alone", async () => {
  const pids = await startVictims();
  const took = await loseAll();
  if (process.env.CONVOY_TEST_TIMES !== undefined) console.log(took);
  expect(Math.max(...Object.values(took))).toBeLessThan(TEN_SECONDS_MS);
  for (const [identity] of VICTIMS) expect([identity, await answers(identity)]).toEqual([identity, true]);
  expect(new Map(VICTIMS.map(([identity]) => [identity, net.pid(identity) ?? 0]))).toEqual(pids);
});

test("a host that is stopped is alive: its agent is adopted, and nothing is started beside it", async () => {
  net.declare("a");
  await net.once();
  const pid = await net.running("a");
  process.kill(hostPid("a"), "SIGSTOP");
  expect(await net.once()).toMatchObject({ code: 0, summary: "adopted 1" });
  await net.up();
  rmSync(registryFile("a", ".sock"));
  expect((await net.plan()).agents[0]).toMatchObject({ disposition: "adopt", blocked: null });
  process.kill(hostPid("a"), "SIGCONT");
  await until("its socket to be back", () => isWhole("a"));
  expect([net.pid("a"), net.runs("a")]).toEqual([pid, [pid]]);
});

test("a mute socket in its place fools nobody", async () => {
  net.declare("a");
  await net.once();
  const pid = await net.running("a");
  const path = registryFile("a", ".sock");
  rmSync(path);
  const mute = Bun.listen({ unix: path, socket: { data: () => undefined } });
  try {
    expect(await net.once()).toMatchObject({ code: 0, summary: "adopted 1" });
    expect(net.runs("a")).toEqual([pid]);
  } finally {
    mute.stop(true);
  }
  rmSync(path, { force: true });
  await until("its own socket to be back", () => isWhole("a"));
  expect(await answers("a")).toBe(true);
});

test("without its host an agent lives on as orphaned, has no second copy, and is recovered once it ends", async () => {
  net.program("deaf", `#!/bin/sh\ntrap '' HUP\necho "a $$" >>"$HOME/runs.log"\nexec sleep 100000\n`);
  net.declare("a", { command: "exec deaf" });
  await net.up();
  const pid = await net.running("a");
  await until("it to ignore the hangup", () => net.runs("a").length === 1);
  const host = hostPid("a");
  process.kill(host, "SIGKILL");
  await until("the host to be gone", () => !isAlive(host));
  const { agents } = await net.plan();
  expect(agents[0]).toMatchObject({ disposition: "adopt", reason: "runs without its session host" });
  const ls = JSON.parse((await net.convoy(["ls", "--json"])).stdout);
  expect(ls.agents[0]).toMatchObject({ identity: "a", state: "orphaned", pid });
  expect(net.runs("a")).toEqual([pid]);
  kill(pid);
  const next = await net.running("a", pid);
  await until("its second start", () => net.runs("a").length === 2);
  expect(net.runs("a")).toEqual([pid, next]);
});

test("the end: exit code, time and the last two hundred lines, in record and ledger; socket and pid file gone", async () => {
  net.program("speaker", '#!/bin/sh\nfor i in $(seq 1 250); do echo "line $i"; done\nexit 3\n');
  net.declare("a", { command: "exec speaker" });
  const before = Date.now();
  await net.once();
  await until("its end", () => net.ledger("a")?.end != null);
  const host = hostPid("a");
  await until("its host to leave", () => !isAlive(host));
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 51}`);
  const end = net.ledger("a")?.end;
  expect(end).toEqual({ exitCode: 3, exitedAt: expect.any(String), lastLines: lines, error: null });
  expect(Date.parse(end?.exitedAt ?? "")).toBeGreaterThanOrEqual(before);
  expect(net.record("a")).toMatchObject({ exitCode: 3, exitedAt: end?.exitedAt, lastLines: lines });
  expect([".sock", ".pid"].filter((suffix) => existsSync(registryFile("a", suffix)))).toEqual([]);
});

/** A process that sheds the agent's terminal and is not its child any more, but carries its mark. */
const STRAY = `#!/bin/sh
trap '' HUP
echo "a $$" >>"$HOME/runs.log"
[ -e "$HOME/stray" ] || { setsid sh -c 'echo $$ >"$HOME/stray"; exec sleep 100000' & }
exec sleep 100000
`;

test("what a dead agent left running is ended before it is started again", async () => {
  net.program("stray", STRAY);
  net.declare("a", { command: "exec stray" });
  await net.once();
  const pid = await net.running("a");
  const stray = await until("the stray", () => readNumber(join(net.home, "stray")));
  kill(pid);
  await until("its end", () => net.ledger("a")?.end != null);
  expect(isAlive(stray)).toBe(true);
  expect(await net.once()).toMatchObject({ code: 0, summary: "launched 1" });
  expect(isAlive(stray)).toBe(false);
  await until("the second run", () => net.runs("a").length === 2);
});

/** Root without the right to signal other users' processes. */
const POWERLESS = ["setpriv", "--bounding-set=-kill", "--inh-caps=-kill"];

/** What this machine lacks for it: nobody but root can have processes that it sees and may not signal. */
async function missingPowerless(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can start another user's process";
  const absent = missingPrograms("setpriv");
  if (absent !== null) return absent;
  const other = Bun.spawn(["setpriv", "--reuid=65534", "--clear-groups", "sleep", "100"], { env: {} });
  try {
    await until("the other user's process", () => processTable.commandLine(other.pid)?.[0] === "sleep");
    const tried = Bun.spawnSync([...POWERLESS, "sh", "-c", `kill ${other.pid}`], { stderr: "ignore" });
    return tried.exitCode === 0 ? "root may signal others here without the right to" : null;
  } finally {
    other.kill("SIGKILL");
  }
}

const noPowerless = await missingPowerless();

skippable(
  "a leftover that cannot be ended is named, and its agent waits until it is gone",
  noPowerless,
  async () => {
    net.program("stray", STRAY.replace("setsid", "setsid setpriv --reuid=65534 --clear-groups"));
    chmodSync(net.home, 0o777);
    net.declare("a", { command: "exec stray" });
    await net.once();
    const stray = await until("the stray", () => readNumber(join(net.home, "stray")));
    kill(await net.running("a"));
    await until("its end", () => net.ledger("a")?.end != null);
    const once = [BINARY, "up", "--once", "--network", net.root];
    const pass = Bun.spawn([...POWERLESS, ...once], { env: net.env(), stdout: "pipe", stderr: "ignore" });
    const [code, said] = await Promise.all([pass.exited, new Response(pass.stdout).text()]);
    expect(code).toBe(1);
    expect(said).toContain(String(stray));
    expect(net.said("survivor", "a").at(-1)).toMatchObject({ pids: [stray] });
    expect(net.runs("a")).toHaveLength(1);
    kill(stray);
    expect(await net.once()).toMatchObject({ code: 0, summary: "launched 1" });
  },
);

function readNumber(path: string): number | null {
  return existsSync(path) ? Number(readFileSync(path, "utf8").trim()) || null : null;
}

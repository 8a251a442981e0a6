/** How an agent's end is told apart, said once and recovered; and what is no end at all. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processTable } from "../../src/system/processes.ts";
import { DEADLINE_MS, isAlive, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

/** The members of `death` that tell how it was. */
function told(identity: string) {
  return net.said("death", identity).map(({ kind, exitCode, message, lastLine }) => {
    return { kind, exitCode, message, lastLine };
  });
}

/** Makes an agent whose own session host is killed outright: its terminal goes, and it with it. */
function killHost(identity: string): void {
  kill(net.ledger(identity)?.host?.pid ?? null);
}

interface End {
  readonly command?: string;
  end(pid: number): void;
  readonly told: ReturnType<typeof told>[number];
}

const exited = (exitCode: number, lastLine: string | null = null) => {
  return { kind: "exited" as const, exitCode, message: `exit code ${exitCode}`, lastLine };
};

const ENDS: Readonly<Record<string, End>> = {
  "exit code 7": {
    command: 'while ! rm "$HOME/end" 2>/dev/null; do sleep 0.05; done; echo "so tired"; exit 7',
    end: () => writeFileSync(join(net.home, "end"), ""),
    told: exited(7, "so tired"),
  },
  "signal 9": { end: (pid) => kill(pid, "SIGKILL"), told: exited(137) },
  "signal 15": { end: (pid) => kill(pid, "SIGTERM"), told: exited(143) },
  "its host killed outright": {
    end: () => killHost("a"),
    told: {
      kind: "vanished",
      exitCode: null,
      message: "vanished (hard death — no exit record)",
      lastLine: null,
    },
  },
};

for (const [name, { command, end, told: expected }] of Object.entries(ENDS))
  test(`SUP-R10 SUP-R11: ${name} is told as what it was, once, and the agent runs again`, async () => {
    net.declare("a", command === undefined ? {} : { command });
    net.declare("b");
    const loop = await net.up();
    const pid = await net.running("a");
    const b = await net.running("b");
    end(pid);
    const again = await net.running("a", pid);
    await net.event("respawn");
    expect(told("a")).toEqual([expected]);
    // Neither another pass nor another supervisor says it again.
    net.declare("c");
    await net.running("c");
    loop.signal("SIGTERM");
    await loop.ended;
    expect((await net.once()).code).toBe(0);
    expect(told("a")).toEqual([expected]);
    expect([net.pid("a"), net.pid("b"), net.said("death", "b")]).toEqual([again, b, []]);
  });

test("SUP-R10: an end that only the record tells, and without a code, is a third kind", async () => {
  net.declare("a");
  await net.once();
  const pid = await net.running("a");
  killHost("a");
  await until("the agent to be gone", () => !isAlive(pid));
  const record = { ...net.record("a"), exitedAt: new Date().toISOString() };
  writeFileSync(join(net.pty, "box.a.json"), JSON.stringify(record, null, 2));
  await net.once();
  expect(told("a")).toEqual([
    { kind: "exited", exitCode: null, message: "killed with no exit code", lastLine: null },
  ]);
});

test("SUP-R10 SUP-R11: an end that no supervisor saw is told and recovered by the next, and said once", async () => {
  net.declare("a");
  await net.once();
  const pid = await net.running("a");
  kill(pid);
  await until("its end to be written down", () => net.ledger("a")?.end);
  const { code, events } = await net.once();
  expect([code, events.map(({ type }) => type)]).toEqual([0, ["plan", "death", "respawn", "once_summary"]]);
  await net.once();
  expect(told("a")).toEqual([exited(137)]);
});

test("SUP-R11: recovery repeats the first launch: same command, folder and environment, from whatever shell", async () => {
  net.declare("a", { tables: ["[env]", 'FROM_DECLARATION = "1"'], lines: ['workspace = "deep/er"'] });
  await net.once([], { FIRST_SHELL: "1" });
  /** The shell of the stand-in is past: what is compared is the program. */
  const asleep = (pid: number) =>
    until("the agent to idle", () => processTable.commandLine(pid)?.[0] === "sleep");
  const seen = (pid: number) => ({
    environment: processTable.environment(pid)?.sort(),
    command: processTable.commandLine(pid),
  });
  const spec = net.ledger("a")?.spec;
  const pid = await net.running("a");
  await asleep(pid);
  const first = seen(pid);
  expect(first.environment).toContain("FIRST_SHELL=1");
  expect(first.environment).toContain("FROM_DECLARATION=1");
  kill(pid);
  await until("its end to be written down", () => net.ledger("a")?.end);
  await net.once([], { SECOND_SHELL: "1", TMUX: "/tmp/tmux", CLAUDECODE: "1" });
  const again = await net.running("a", pid);
  await asleep(again);
  expect([seen(again), net.ledger("a")?.spec]).toEqual([first, spec]);
});

test("SUP-R11: an agent that keeps dying at long intervals is recovered every time", async () => {
  // With a window of a second every one of these lives longer than that.
  net.declare("a", { command: "sleep 1.3; exit 1" });
  const loop = await net.up(["--fast-fail-window", "1", "--fast-fail-limit", "1"]);
  await until("three more lives", () => net.said("respawn").length >= 3);
  loop.signal("SIGTERM");
  expect(net.said("session_flapping")).toEqual([]);
});

test("SUP-R11: what runs is recovered although its declaration cannot be read any more", async () => {
  const file = net.declare("a");
  const loop = await net.up();
  const pid = await net.running("a");
  writeFileSync(file, 'host = "box"\nidentity = "a"\nrole = \n');
  await net.event("catalog_error", (event) => event.path === "box/a/agent.toml" && event.line === 3);
  expect(net.pid("a")).toBe(pid);
  kill(pid);
  const second = await net.running("a", pid);
  rmSync(file);
  await net.event("catalog_warning", (event) => event.message.includes("no longer declares a"));
  kill(second);
  await net.running("a", second);
  loop.signal("SIGTERM");
});

const inRegistry = (name: string) => join(net.pty, `box.${name}`);
/** By agent: what is done to its files or its host while it runs. */
const DISTURBANCES: Readonly<Record<string, (identity: string) => void>> = {
  "no-pid-file": (identity) => rmSync(inRegistry(`${identity}.pid`)),
  "empty-pid-file": (identity) => writeFileSync(inRegistry(`${identity}.pid`), ""),
  "others-pid": (identity) => writeFileSync(inRegistry(`${identity}.pid`), "1\n"),
  "no-socket": (identity) => rmSync(inRegistry(`${identity}.sock`)),
  "torn-record": (identity) => writeFileSync(inRegistry(`${identity}.json`), '{"command":'),
  "no-record": (identity) => rmSync(inRegistry(`${identity}.json`)),
  "record-of-an-end": (identity) => {
    const record = { ...net.record(identity), exitCode: 1, exitedAt: new Date().toISOString() };
    writeFileSync(inRegistry(`${identity}.json`), JSON.stringify(record));
  },
  "stopped-host": (identity) => kill(net.ledger(identity)?.host?.pid ?? null, "SIGSTOP"),
};

test("SUP-C02 SUP-R09: an agent is alive while its process is, whatever its registry files and its host say", async () => {
  const agents = Object.keys(DISTURBANCES);
  for (const identity of agents) net.declare(identity);
  await net.once();
  const before = await Promise.all(agents.map((identity) => net.running(identity)));
  for (let pass = 1; pass <= 3; pass += 1) {
    // Whoever has put its files back is disturbed again.
    for (const identity of agents) disturbAgain(identity);
    const { events } = await net.once();
    expect(events.filter(({ type }) => ["launch", "respawn", "death"].includes(type))).toEqual([]);
  }
  expect(agents.map((identity) => net.pid(identity))).toEqual(before);
  expect(agents.map((identity) => net.runs(identity))).toEqual(before.map((pid) => [pid]));
});

function disturbAgain(identity: string): void {
  const files = ["json", "pid", "sock"].map((end) => inRegistry(`${identity}.${end}`));
  if (files.every(existsSync)) DISTURBANCES[identity]?.(identity);
}

test("SUP-R09: an agent that outlives its own session host gets no second copy, and is recovered when it ends", async () => {
  net.declare("a", { command: `trap "" HUP; exec agent a` });
  const loop = await net.up();
  const pid = await net.running("a");
  await until("the agent to say that it runs", () => net.runs("a").length === 1);
  killHost("a");
  await until("the plan to say so", async () =>
    (await net.plan()).agents.some(({ reason }) => reason === "runs without its session host"),
  );
  net.declare("b");
  await net.running("b");
  expect([isAlive(pid), net.runs("a")]).toEqual([true, [pid]]);
  kill(pid);
  const again = await net.running("a", pid);
  await until("the agent to say that it runs again", () => net.runs("a").length === 2);
  expect(net.runs("a")).toEqual([pid, again]);
  loop.signal("SIGTERM");
});

test("SUP-R09 SUP-C02: a living agent's lost registry files are back, and it is the same process", async () => {
  net.declare("a");
  await net.up();
  const pid = await net.running("a");
  const files = ["box.a.sock", "box.a.pid", "box.a.json"].map((name) => join(net.pty, name));
  await until("its files to be there", () => files.every(existsSync));
  for (const file of files) rmSync(file);
  await until("its files to be back", () => files.every(existsSync));
  expect(readFileSync(join(net.pty, "box.a.pid"), "utf8").trim()).toBe(String(net.ledger("a")?.host?.pid));
  expect([net.pid("a"), net.said("death"), net.said("launch").length]).toEqual([pid, [], 1]);
});

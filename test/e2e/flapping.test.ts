/** Bounded respawn: failures are counted on disk, park an agent at the limit, and what lets it run again. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const CRASHING = "exec agent a exit 3";
/** As the published format has it: SHA-256 of command, NUL, arguments joined by NUL; the first 16 digits. */
const hashOf = (line: string) => createHash("sha256").update(`sh\0-c\0${line}`).digest("hex").slice(0, 16);

/** The accounting of an agent, as it stands on disk. */
function accounting(identity = "a"): Record<string, string> {
  const tags = Object.entries(net.record(identity).tags);
  return Object.fromEntries(tags.filter(([tag]) => tag.startsWith("strategy.")));
}

/** Waits until `count` runs of the agent have ended and been written down. */
async function ended(count: number): Promise<void> {
  await until(`run ${count} to be over`, () => net.runs("a").length === count && net.ledger("a")?.end);
}

async function parked(times = 1) {
  await until("the agent to be parked", () => net.said("session_flapping").length === times);
}

test("SUP-R10 SUP-R12 SUP-C01 SUP-T02: an agent that cannot stay up is parked at the limit, with the tags of the shared format byte for byte", async () => {
  net.declare("a", { command: CRASHING });
  net.declare("b");
  const loop = await net.up();
  await parked();
  const b = await net.running("b");
  expect(net.said("session_flapping")).toMatchObject([
    { identity: "a", busId: "box.a", session: "box.a", counter: 3, limit: 3, window: 60 },
  ]);
  expect(net.said("respawn", "a").map(({ fastFails, limit }) => [fastFails, limit])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
  ]);
  expect(net.runs("a").length).toBe(4);
  expect(net.said("death", "a").map(({ message, lastLine }) => [message, lastLine])).toEqual(
    Array.from({ length: 4 }, () => ["exit code 3", "cannot work"]),
  );
  const text = readFileSync(join(net.pty, "box.a.json"), "utf8");
  const written = [...text.matchAll(/^ {4}"(strategy[^"]*)": ("[^"\n]*"),?$/gm)].map(([, tag, value]) => [
    tag,
    value,
  ]);
  expect(written.sort()).toEqual([
    ["strategy", '"permanent"'],
    ["strategy.command-hash", `"${hashOf(CRASHING)}"`],
    ["strategy.consecutive-fast-fails", '"3"'],
    ["strategy.last-respawn-at", expect.stringMatching(/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/)],
    ["strategy.status", '"flapping"'],
  ]);
  const log = readFileSync(join(net.pty, "box.a.events.jsonl"), "utf8").trim().split("\n");
  expect(JSON.parse(log.at(-1) ?? "")).toMatchObject({
    session: "box.a",
    type: "session_flapping",
    counter: 3,
    limit: 3,
    window: 60,
  });
  // Whatever else happens, it stays parked, in this supervisor and in the next, and nobody else suffers.
  net.declare("c");
  await net.running("c");
  loop.signal("SIGTERM");
  await loop.ended;
  expect(await net.once()).toMatchObject({ code: 1, summary: "adopted 2, parked 1" });
  const next = await net.up(["--interval", "0.1"]);
  net.declare("d");
  await net.running("d");
  expect((await net.plan()).agents[0]).toMatchObject({
    identity: "a",
    disposition: "launch",
    blocked: "parked",
    reason: "failed 3 times in a row; to try again: convoy reset a",
  });
  expect([net.runs("a").length, net.pid("b"), net.said("session_flapping").length]).toEqual([4, b, 1]);
  expect(net.said("death").length).toBe(4);
  next.signal("SIGTERM");
});

test("SUP-R12 SUP-C01: the count carries over from supervisor to supervisor, killed or not", async () => {
  net.declare("a");
  const die = async () => {
    const pid = await net.running("a");
    kill(pid);
    return pid;
  };
  const first = await net.up();
  await net.running("a", await die());
  await net.event("respawn", ({ fastFails }) => fastFails === 0);
  await net.running("a", await die());
  await net.event("respawn", ({ fastFails }) => fastFails === 1);
  expect(accounting()["strategy.consecutive-fast-fails"]).toBe("1");
  kill(first.pid);
  await first.ended;

  await die();
  await until("its end to be written down", () => net.ledger("a")?.end);
  expect(await net.once()).toMatchObject({ code: 0, summary: "launched 1" });
  expect(net.said("respawn").at(-1)).toMatchObject({ fastFails: 2 });
  await net.up();
  await die();
  await parked();
  expect([accounting()["strategy.consecutive-fast-fails"], accounting()["strategy.status"]]).toEqual([
    "3",
    "flapping",
  ]);
});

test("SUP-R12: limit and window are the session's own tags first, then the supervisor's", async () => {
  const tables = [
    "[pty.agent.tags]",
    '"strategy.fast-fail-limit" = "1"',
    '"strategy.fast-fail-window" = "600"',
  ];
  net.declare("a", { command: CRASHING, tables });
  net.declare("b", { command: "exec agent b exit 3" });
  await net.up(["--fast-fail-limit", "2", "--fast-fail-window", "300"]);
  await parked(2);
  const told = net
    .said("session_flapping")
    .map(({ identity, counter, limit, window }) => [identity, counter, limit, window]);
  expect(told.sort()).toEqual([
    ["a", 1, 1, 600],
    ["b", 2, 2, 300],
  ]);
  expect([net.runs("a").length, net.runs("b").length]).toEqual([2, 3]);
});

test("SUP-R12: a launch that fails outright counts too, and is tried again by the timer alone", async () => {
  // The socket's place is taken by a folder: no host can serve there.
  net.declare("a");
  const blocked = Bun.spawnSync(["mkdir", "-p", join(net.pty, "box.a.sock", "x")]);
  expect(blocked.exitCode).toBe(0);
  for (const [fastFails, code] of [
    [1, 1],
    [2, 1],
    [3, 1],
  ] as const) {
    expect(await net.once()).toMatchObject({ code, summary: "failed 1" });
    expect(net.said("launch_failed").at(-1)).toMatchObject({ identity: "a", fastFails, limit: 3 });
  }
  expect(net.said("session_flapping").length).toBe(1);
  expect(await net.once()).toMatchObject({ code: 1, summary: "parked 1" });
});

interface Remedy {
  /** Mends the agent, which then runs under the accounting `expected`. */
  apply(): Promise<void> | void;
  readonly expected: Readonly<Record<string, unknown>>;
}

const mended = (more: Record<string, unknown> = {}) => ({
  "strategy.consecutive-fast-fails": "0",
  "strategy.last-respawn-at": expect.any(String),
  "strategy.command-hash": hashOf(CRASHING),
  ...more,
});

/** What fails is the program; its command line is the same when it is mended. */
const repair = () => net.program("agent", '#!/bin/sh\necho "$1 $$" >>"$HOME/runs.log"\nexec sleep 100000\n');

const REMEDIES: Readonly<Record<string, Remedy>> = {
  "a changed command": {
    apply: () => void net.declare("a", { command: "exec agent a" }),
    expected: mended({ "strategy.command-hash": hashOf("exec agent a") }),
  },
  "`convoy reset`": {
    async apply() {
      repair();
      expect(await net.convoy(["reset", "a"])).toMatchObject({
        code: 0,
        stdout: "box.a: no longer parked\n",
      });
    },
    // Without a last-respawn-at the end is no fast one.
    expected: mended(),
  },
  "removing the status tag, as another program would": {
    apply() {
      repair();
      const record = net.record("a");
      delete record.tags["strategy.status"];
      const made = join(net.pty, "box.a.json.tmp.1.x");
      writeFileSync(made, JSON.stringify(record, null, 2));
      renameSync(made, join(net.pty, "box.a.json"));
    },
    expected: mended(),
  },
};

for (const [name, { apply, expected }] of Object.entries(REMEDIES))
  test(`SUP-R12 SUP-T02: ${name} lets a parked agent run again, at once and counted afresh`, async () => {
    net.declare("a", { command: CRASHING });
    await net.up();
    await parked();
    await ended(4);
    await apply();
    const pid = await net.running("a");
    await until("the agent to say that it runs", () => net.runs("a").length === 5);
    expect(net.runs("a")[4]).toBe(pid);
    expect<unknown>(accounting()).toEqual(expected);
  });

test("SUP-R12: the same broken command, written anew, stays parked", async () => {
  net.declare("a", { command: CRASHING });
  await net.up(["--fast-fail-limit", "1"]);
  await parked();
  net.declare("a", { command: CRASHING, lines: ['supervisor = "chief"'] });
  net.declare("b");
  await net.running("b");
  expect([net.runs("a").length, accounting()["strategy.status"]]).toEqual([2, "flapping"]);
});

test("SUP-R12: an end that was asked for is no failure", async () => {
  net.declare("a");
  await net.up(["--fast-fail-limit", "1"]);
  for (let round = 1; round <= 3; round += 1) {
    const pid = await net.running("a");
    expect((await net.convoy(["restart", "a"])).code).toBe(0);
    await net.running("a", pid);
  }
  expect([net.said("session_flapping"), net.said("death"), accounting()]).toEqual([[], [], {}]);
});

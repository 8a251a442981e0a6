/** Two writers of one record's tags: pty's own code, which takes no lock, and convoy. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join, resolve } from "node:path";
import { STILL_MS } from "../../src/registry/lost-tags.ts";
import { readSession } from "../../src/registry/read.ts";
import { patchTags } from "../../src/registry/tags.ts";
import { DEADLINE_MS, HOST, until } from "../e2e/kit.ts";
import { PtyNet } from "./kit.ts";

/** Five hundred changes of each, on a machine that has other things to do. */
setDefaultTimeout(6 * DEADLINE_MS);

let net: PtyNet;
afterEach(async () => await net.remove());

const STATUS = "strategy.status";
const COUNT = "strategy.consecutive-fast-fails";
const LAST = "strategy.last-respawn-at";
const CHANGES = 500;
const NAME = `${HOST}.a`;

/** Reads a file as fast as it can until it is told to stop; prints how often, and what did not parse. */
const SAMPLER = `
const { readFileSync } = require("node:fs");
let going = true, samples = 0, torn = [];
process.stdin.on("end", () => { going = false; });
process.stdin.resume();
(async () => {
  while (going) {
    for (let n = 0; n < 4; n++) {
      const text = readFileSync(process.argv[1], "utf8");
      samples++;
      try { JSON.parse(text); } catch { torn.push(text); }
    }
    await new Promise((next) => setTimeout(next, 1));
  }
  console.log(JSON.stringify({ samples, torn }));
})();`;

function background(command: readonly string[], env: Readonly<Record<string, string>>) {
  const child = Bun.spawn([...command], {
    cwd: resolve(import.meta.dir, "../.."),
    env: { PATH: process.env.PATH ?? "", ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  return async () => {
    child.stdin.end();
    return JSON.parse(await new Response(child.stdout).text());
  };
}

interface Writer {
  readonly changes: number;
  readonly logged: number;
  /** From a rename to the log's line about it. */
  readonly medianMs: number;
  readonly mostMs: number;
  readonly last: string;
}

async function startWriter(pauseMs: number, slowMs: number): Promise<() => Promise<Writer>> {
  const script = join(import.meta.dir, "tag-writer.mjs");
  const words = ["node", script, NAME, String(pauseMs), String(slowMs)];
  const stop = background(words, await net.wiring());
  await until("pty's first change", () => net.record("a").tags.theirs !== undefined);
  return stop;
}

test("five hundred changes each at once: the record parses at every sample, and convoy's tags are right", async () => {
  net = new PtyNet();
  net.declare("a");
  await net.once();
  const record = join(net.pty, `${NAME}.json`);
  const stopSampling = background([process.execPath, "-e", SAMPLER, record], {});
  const stopWriter = await startWriter(1, 6);
  let lost = 0;
  let wrong = 0;
  for (let count = 1; count <= CHANGES; count += 1) {
    const parked = count % 3 === 0;
    const at = new Date(count * 1_000).toISOString();
    const set = { [COUNT]: String(count), [LAST]: at, ...(parked ? { [STATUS]: "flapping" } : {}) };
    await patchTags(net.pty, NAME, set, parked ? [] : [STATUS]);
    // Long enough for a writer that had read the record before to have written it.
    await Bun.sleep(Math.random() * 12);
    const seen = await readSession(net.pty, NAME);
    if (Object.keys(seen?.lostTags?.set ?? {}).length + (seen?.lostTags?.remove.length ?? 0) > 0) lost += 1;
    const right = seen?.tags[COUNT] === String(count) && (seen.tags[STATUS] === "flapping") === parked;
    if (!right) wrong += 1;
  }
  const writer = await stopWriter();
  const { samples, torn } = await stopSampling();
  console.log(
    `${CHANGES} changes of convoy's, ${writer.changes} of pty's: ${lost} undone and found, ${wrong} missed at a look; ` +
      `from pty's rename to its word ${writer.medianMs.toFixed(2)} ms, ${writer.mostMs.toFixed(0)} ms at most; ${samples} samples`,
  );
  expect({ torn, enough: samples > CHANGES, met: lost > 0 }).toEqual({ torn: [], enough: true, met: true });
  expect(writer.logged).toBe(writer.changes);
  // A writer that is held up between its write and its word about it is not understood while that lasts.
  if (writer.mostMs < STILL_MS) expect(wrong).toBe(0);

  await net.once();
  const own = { role: "agent", strategy: "permanent", "convoy.agent": NAME, theirs: writer.last };
  expect(net.record("a").tags).toMatchObject({ ...own, [COUNT]: String(CHANGES) });
  expect(net.record("a").tags[STATUS]).toBeUndefined();
  expect(net.record("a").daemonPid).toBe(net.ledger("a")?.host?.pid);
});

test("a supervisor counts every failure once while pty tags all the time", async () => {
  net = new PtyNet();
  net.declare("a", { command: "exec agent a exit 3" });
  await net.once();
  const stopWriter = await startWriter(4, 1);
  const loop = await net.up(["--fast-fail-limit", "100000", "--fast-fail-window", "100000"]);
  const context = () => JSON.stringify(net.said("warning"));
  await until("twenty respawns", () => net.said("respawn", "a").length >= 20, context, 3 * DEADLINE_MS);
  loop.signal("SIGTERM");
  await loop.ended;
  const { mostMs } = await stopWriter();
  const counted = net.said("respawn", "a").map(({ fastFails }) => fastFails);
  const failed = net.said("launch_failed", "a");
  const warned = net.said("warning").map(({ message }) => message);
  expect({ failed, warned }).toEqual({ failed: [], warned: [] });
  if (mostMs < STILL_MS) expect(counted).toEqual(counted.map((_, index) => index));
});

test("what a person takes away by pty's program stays away: a parked agent runs again", async () => {
  net = new PtyNet();
  net.declare("a", { command: '[ -e "$HOME/mended" ] && exec agent a; exit 1' });
  for (let pass = 0; pass < 5; pass += 1) {
    await net.once(["--fast-fail-limit", "2"]);
    await until("its end", () => net.ledger("a")?.end !== null);
  }
  expect(net.record("a").tags[STATUS]).toBe("flapping");
  const tagged = await net.runPty(["tag", NAME, "color=red"]);
  expect([tagged.code, (await net.plan()).agents[0]?.blocked]).toEqual([0, "parked"]);
  await Bun.write(join(net.home, "mended"), "");
  expect((await net.runPty(["tag", NAME, "--rm", STATUS])).code).toBe(0);
  expect(await net.once(["--fast-fail-limit", "2"])).toMatchObject({ code: 0, summary: "launched 1" });
  expect(net.record("a").tags).toMatchObject({ color: "red", [COUNT]: "0" });
});

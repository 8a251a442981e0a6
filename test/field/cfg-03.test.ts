/** CFG-03: beside programs that write the same config, nobody's change is lost. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, utimesSync, watch } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Field, type Launch, TEST_MS, until } from "./kit.ts";

const WRITER = join(import.meta.dir, "../../src/harness-files/fixtures/config-writer.ts");
const COUNTED = `${JSON.stringify({ mcpServers: { x: { counter: 0 } }, projects: {} }, null, 2)}\n`;

let field: Field;
const sampling: { stop: boolean } = { stop: false };
beforeEach(() => {
  field = new Field();
  sampling.stop = false;
  field.put(field.claudeConfig, COUNTED);
});
afterEach(async () => {
  sampling.stop = true;
  await field.remove();
});

function startWriter(steps: number, everyMs: number, mode: string) {
  return Bun.spawn([process.execPath, WRITER, field.claudeConfig, String(steps), String(everyMs), mode], {
    // The runtime would keep its own cache in HOME.
    env: field.environment({ BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" }),
    stdout: "pipe",
    stderr: "inherit",
  });
}

/** Parses the file again and again until it is told to stop; answers how often. */
async function sample(): Promise<number> {
  let samples = 0;
  for (; !sampling.stop; samples += 1) {
    JSON.parse(readFileSync(field.claudeConfig, "utf8"));
    await Bun.sleep(1);
  }
  return samples;
}

function read(): { counter: number; trusted: string[] } {
  const config = JSON.parse(readFileSync(field.claudeConfig, "utf8"));
  return { counter: config.mcpServers.x.counter, trusted: Object.keys(config.projects).sort() };
}

function expectTrusted(launches: readonly Launch[]): void {
  for (const launch of launches) {
    const seen = JSON.parse(field.configSeenBy(launch));
    expect(seen.projects[launch.cwd]).toEqual({ hasTrustDialogAccepted: true });
  }
}

function declareMany(count: number, prefix: string, network = field.network): void {
  for (let i = 0; i < count; i += 1) field.declare(`${prefix}${i}`, "", { network });
}

test.each([
  ["one that takes the lock, as fast as it can", 400, 0, "lock"],
  ["one without a lock, five times a second", 15, 200, ""],
])(
  "twenty agents beside %s",
  async (_what, steps, everyMs, mode) => {
    declareMany(20, "a");
    const writer = startWriter(steps, everyMs, mode);
    const lines = writer.stdout.getReader();
    await lines.read();
    lines.releaseLock();
    const samples = sample();

    const ran = await field.once();
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(await writer.exited).toBe(0);
    sampling.stop = true;

    expect(await samples).toBeGreaterThan(10);
    const launches = await field.untilLaunched(20);
    expectTrusted(launches);
    expect(read()).toEqual({ counter: steps, trusted: launches.map(({ cwd }) => cwd).sort() });
    console.log(`counter steps lost: ${steps - read().counter} of ${steps}`);
  },
  TEST_MS,
);

test(
  "twenty agents are one write",
  async () => {
    declareMany(20, "a");
    const replaced: string[] = [];
    const watcher = watch(field.home, (_kind, name) => {
      if (name === ".claude.json") replaced.push(name);
    });
    try {
      expect(await field.once()).toMatchObject({ code: 0 });
      await until("the watcher to see the write", () => replaced.length > 0);
      expect(await field.once()).toMatchObject({ code: 0 });
      expect(replaced).toEqual([".claude.json"]);
    } finally {
      watcher.close();
    }
  },
  TEST_MS,
);

test(
  "two networks with one home, at once",
  async () => {
    const other = join(field.root, "m");
    field.makeNetwork(other);
    declareMany(5, "a");
    declareMany(5, "b", other);
    const both = await Promise.all([field.once(), field.once({ network: other })]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const launches = await field.untilLaunched(10);
    expectTrusted(launches);
    expect(read().trusted).toEqual(launches.map(({ cwd }) => cwd).sort());
  },
  TEST_MS,
);

test(
  "the lock of a dead process costs seconds",
  async () => {
    field.declare("a");
    mkdirSync(`${field.claudeConfig}.lock`);
    const sevenSecondsAgo = Date.now() / 1000 - 7;
    utimesSync(`${field.claudeConfig}.lock`, sevenSecondsAgo, sevenSecondsAgo);
    expect(await field.once()).toMatchObject({ code: 0, stderr: "" });
    expectTrusted(await field.untilLaunched(1));
    expect(existsSync(`${field.claudeConfig}.lock`)).toBe(false);
  },
  TEST_MS,
);

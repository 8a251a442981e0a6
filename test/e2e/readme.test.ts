/**
 * Runs the README's `console run` blocks with the binary, one after another in one home, and compares what is printed
 * with what the README shows. Numbers, times, runs of spaces and the home folder may differ; a pid that was shown stands
 * for the real one in the commands below it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { readDocument, type Shown, shownCommands } from "../support/documents.ts";
import { BINARY, namedNetwork } from "./binary.ts";

const LONGEST_MS = 60_000;
/** What is shown may take a moment to become so: commands that only look are asked again. */
const LOOKS = /^convoy (?:ls|peek|logs|plan)\b/;
const AGAIN_MS = 100;
const PATIENCE_MS = 10_000;

const home = mkdtempSync("/tmp/cv-");
const env = { PATH: `${home}/bin:/usr/bin:/bin`, HOME: home, CONVOY_HOST: "box" };

beforeAll(() => {
  mkdirSync(join(home, "bin"));
  symlinkSync(BINARY, join(home, "bin/convoy"));
});

afterAll(async () => {
  const root = namedNetwork({ path: home } as Parameters<typeof namedNetwork>[0]);
  const holder = Bun.file(join(root, "pty/.convoy/holder.json"));
  if (await holder.exists()) process.kill((await holder.json()).pid, "SIGTERM");
  await sh("convoy down --grace 1");
  rmSync(home, { recursive: true, force: true });
}, LONGEST_MS);

async function sh(command: string): Promise<{ code: number; text: string }> {
  const shell = Bun.spawn(["sh", "-c", `exec 2>&1; ${command}`], {
    cwd: home,
    env,
    stdin: "ignore",
    stdout: "pipe",
  });
  const [text, code] = await Promise.all([new Response(shell.stdout).text(), shell.exited]);
  return { code, text };
}

/** What has to be the same. */
function essence(text: string): string {
  return text
    .replaceAll(home, "/home/you")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/\d+ ?(?:ms|s|m|h)\b/g, "<span>")
    .replaceAll(/\d+/g, "0")
    .replaceAll(/[ \t]+/g, " ")
    .trimEnd();
}

/** Every number that the README shows, with the one that stands in its place. */
function pairNumbers(shown: string, printed: string): [string, string][] {
  const [theirs, ours] = [shown, printed.replaceAll(home, "/home/you")].map(
    (text) => text.match(/\d+/g) ?? [],
  );
  return theirs!.length === ours!.length ? theirs!.map((number, index) => [number, ours![index]!]) : [];
}

/** Throws for a pid that no output has shown: a number of the README must never reach `kill`. */
function withRealPids(command: string, pids: ReadonlyMap<string, string>): string {
  if (!command.startsWith("kill ")) return command;
  return command.replaceAll(/\b\d{2,}\b/g, (number) => {
    const real = pids.get(number);
    if (real === undefined) throw new Error(`${command}: no output above shows ${number}`);
    return real;
  });
}

async function runUntilShown({ command, output }: Shown): Promise<{ code: number; text: string }> {
  const deadline = performance.now() + PATIENCE_MS;
  while (true) {
    const ran = await sh(command);
    const done = ran.code === 0 && essence(ran.text) === essence(output);
    if (done || !LOOKS.test(command) || performance.now() > deadline) return ran;
    await Bun.sleep(AGAIN_MS);
  }
}

test(
  "what the README shows is what convoy prints",
  async () => {
    const blocks = readDocument("README.md").blocks.filter(({ info }) => info === "console run");
    const shown = blocks.flatMap(shownCommands);
    expect(shown.length).toBeGreaterThan(5);
    const pids = new Map<string, string>();
    for (const one of shown) {
      const command = withRealPids(one.command, pids);
      const { code, text } = await runUntilShown({ ...one, command });
      const at = `README.md:${one.line} ${one.command}`;
      expect([at, code, essence(text)]).toEqual([at, 0, essence(one.output)]);
      for (const [theirs, ours] of pairNumbers(one.output, text)) pids.set(theirs, ours);
    }
  },
  LONGEST_MS,
);

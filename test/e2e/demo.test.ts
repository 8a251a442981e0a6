/** The demo is what a newcomer runs first; it checks each of its own steps. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY } from "./binary.ts";

const DEMO = join(import.meta.dir, "../../scripts/demo");
const LONGEST_MS = 60_000;

let home: string;
beforeEach(() => {
  home = mkdtempSync("/tmp/cv-");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function runDemo(words: readonly string[]) {
  const demo = Bun.spawn([DEMO, ...words], {
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(demo.stdout).text(),
    new Response(demo.stderr).text(),
    demo.exited,
  ]);
  return { code, stdout, stderr };
}

test(
  "the demo runs from the binary alone, in an empty home, and leaves nothing behind",
  async () => {
    const { code, stdout, stderr } = await runDemo(["--binary", BINARY]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^Nothing is left: no process, no file\. \d+ s\.$/);
    const folder = /\/tmp\/cv-demo\.\w+/.exec(stdout)?.[0];
    expect([readdirSync(home), readdirSync("/tmp").filter((name) => `/tmp/${name}` === folder)]).toEqual([
      [],
      [],
    ]);
  },
  LONGEST_MS,
);

test(
  "a step that does not show what it should ends the demo with 1, nothing left",
  async () => {
    const lame = join(home, "convoy");
    writeFileSync(lame, `#!/bin/sh\ncase $1 in add) exit 5 ;; esac\nexec '${BINARY}' "$@"\n`);
    chmodSync(lame, 0o755);
    const { code, stdout, stderr } = await runDemo(["--binary", lame]);
    expect([code, stderr]).toEqual([1, "\ndemo: FAILED: convoy add exited with 5\n"]);
    const folder = /\/tmp\/cv-demo\.\w+/.exec(stdout)?.[0];
    expect(readdirSync("/tmp").filter((name) => `/tmp/${name}` === folder)).toEqual([]);
  },
  LONGEST_MS,
);

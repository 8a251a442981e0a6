/** `./scripts/test-harness` where what has the harnesses cannot be reached. What it does elsewhere, it shows itself. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createHome, type Home } from "./binary.ts";
import { DEADLINE_MS } from "./kit.ts";

setDefaultTimeout(4 * DEADLINE_MS);

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(() => home.remove());

test("the harness tests are skipped with the reason right above the count, and leave nothing in the cache", async () => {
  const nobody = "http://127.0.0.1:9/";
  const child = Bun.spawn([resolve(import.meta.dir, "../../scripts/test-harness")], {
    env: { PATH: process.env.PATH ?? "", HOME: home.path, npm_config_registry: nobody, https_proxy: nobody },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const [said, count] = stdout.trimEnd().split("\n").slice(-2);
  expect(said).toMatch(
    /^skipped: harness tests: Claude Code and Codex could not be installed: \w+ downloading tarball /,
  );
  expect([count, stderr, code]).toEqual([expect.stringMatching(/^[01] passed, 0 failed$/), "", 0]);
  expect(readdirSync(join(home.path, ".cache/convoy/harness"))).toEqual([]);
});

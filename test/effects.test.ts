/** Nothing changes the outside world past `effect`, each effect is described, and each is broken off by some test. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EFFECTS } from "../src/system/effects.ts";

const ROOT = join(import.meta.dir, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const listed = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`);

/** Calls that change what other processes see. */
const ACTS =
  /\b(?:writeFileSync|appendFileSync|renameSync|linkSync|symlinkSync|unlinkSync|rmSync|mkdirSync|chmodSync|utimesSync|copyFileSync|truncateSync|mkdtempSync|removeFile|writeFileAtomic|prepared\.put|replaceThroughLinks|makeFolder|Bun\.spawn(?:Sync)?|Bun\.listen|Bun\.write|process\.kill|child\.kill|ports\.signal)\(|new Database\(/;
/** How far behind an act its effect stands, at most: what may fail comes in between, and so do a few options. */
const WITHIN_LINES = 14;
/** Acts that are no effects, by file and the text of their line. */
const NO_EFFECT: Readonly<Record<string, readonly RegExp[]>> = {
  // Its name for a function of its own.
  "src/system/remove-file.ts": [/unlinkSync/, /function removeFile/],
  "src/system/atomic-write.ts": [/function writeFileAtomic/, /renameSync/, /prepared\.put/],
  // What the act is, the caller says.
  "src/catalog/replace.ts": [/writeFileAtomic/, /function replaceThroughLinks/],
  "src/registry/changes.ts": [/return writeFileAtomic/],
  "src/harness-files/update-config.ts": [/makeFolder/],
  "src/system/regular-file.ts": [/appendFileSync/],
  // The tracing itself, asking whether a process is there, and asking other programs.
  "src/system/effects.ts": [/appendFileSync/, /process\.kill/],
  "src/system/login.ts": [/return Bun\.spawnSync/],
  "src/system/processes.ts": [/process\.kill\(pid, 0\)/, /return Bun\.spawnSync/],
  // Its callers mark what changed something, and ask the rest.
  "src/service/program.ts": [/return Bun\.spawn/],
  "src/machine/ask.ts": [/return Bun\.spawn/],
  // The one place that hands the signal in.
  "src/cli/wiring.ts": [/signal: \(pid, signal\)/],
  // Its caller marks the start of an agent.
  "src/session-host/program.ts": [/return Bun\.spawn/],
};

test("no act on the outside world is without an effect", () => {
  const wrong = listed("src")
    .filter((path) => !/\.test\.ts$|fixture/.test(path))
    .flatMap((path) => {
      const lines = read(path).split("\n");
      return lines.flatMap((line, index) => {
        if (!ACTS.test(line) || /^\s*(?:\/?\*|\/\/|import)/.test(line)) return [];
        if (NO_EFFECT[path]?.some((allowed) => allowed.test(line))) return [];
        const behind = lines.slice(index, index + WITHIN_LINES).join("\n");
        return /\beffect\(/.test(behind) ? [] : [`${path}:${index + 1}: ${line.trim()}`];
      });
    });
  expect(wrong).toEqual([]);
});

test("docs/effects.md describes exactly the effects there are, in their order", () => {
  const described = [...read("docs/effects.md").matchAll(/^\| `([\w-]+)` \|/gm)].map((row) => row[1] ?? "");
  expect(described).toEqual([...EFFECTS]);
  expect([...EFFECTS]).toEqual([...EFFECTS].sort());
});

test("each effect is used, and broken off in some test", () => {
  const sources = listed("src").map(read).join("\n");
  const tests = readdirSync(join(ROOT, "test/e2e"))
    .filter((name) => /^crash-.*\.test\.ts$/.test(name))
    .map((name) => read(`test/e2e/${name}`))
    .join("\n");
  expect(EFFECTS.filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
  expect(EFFECTS.filter((name) => !tests.includes(`"${name}"`) && !tests.includes(`${name}:`))).toEqual([]);
});

/** The batch on real files, beside real processes that write them too. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parse } from "smol-toml";
import { parseTOML } from "toml-eslint-parser";
import { missingUnless, skippable } from "../../test/support/skippable.ts";
import type { HarnessName } from "../declaration.ts";
import { type PretrustReport, pretrust } from "../trust.ts";
import { trustAccess } from "./trust-access.ts";

const FIXTURES = join(import.meta.dir, "fixtures");
let home: string;
const started: Bun.Subprocess[] = [];

beforeEach(() => {
  home = realpathSync(mkdtempSync("/tmp/cv-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  rmSync(home, { recursive: true, force: true });
});

function env(more: Record<string, string> = {}): Record<string, string> {
  // Bun would keep its own cache in HOME.
  return { HOME: home, PATH: "/usr/bin:/bin", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...more };
}

function start(command: readonly string[], more: Record<string, string> = {}) {
  const child = Bun.spawn([...command], { env: env(more), stdout: "pipe", stderr: "inherit" });
  started.push(child);
  return child;
}

function startPretrust(harness: HarnessName, workspaces: readonly string[], more?: Record<string, string>) {
  return start([process.execPath, join(FIXTURES, "pretrust.ts"), harness, ...workspaces], more);
}

async function readReport(child: Bun.Subprocess<"ignore", "pipe", "inherit">): Promise<PretrustReport> {
  return JSON.parse(await new Response(child.stdout).text());
}

function startWriter(path: string, count: number, everyMs: number, mode: string) {
  const writer = join(FIXTURES, "config-writer.ts");
  return start([process.execPath, writer, path, String(count), String(everyMs), mode]);
}

function trust(harness: HarnessName, workspaces: readonly string[]): Promise<PretrustReport> {
  return pretrust(
    workspaces.map((workspace) => ({ harness, workspace, env: env() })),
    trustAccess,
  );
}

function makeFolders(...names: string[]): string[] {
  return names.map((name) => {
    mkdirSync(join(home, name), { recursive: true });
    return join(home, name);
  });
}

function numbered(count: number, prefix = "w"): string[] {
  return makeFolders(...Array.from({ length: count }, (_, i) => `${prefix}${i}`));
}

function put(name: string, text: string): string {
  writeFileSync(join(home, name), text);
  return join(home, name);
}

const COUNTED = `${JSON.stringify({ mcpServers: { x: { counter: 0 } }, projects: {} }, null, 2)}\n`;

function readCounted(path: string): { counter: number; folders: string[] } {
  const config = JSON.parse(readFileSync(path, "utf8"));
  return { counter: config.mcpServers.x.counter, folders: Object.keys(config.projects) };
}

describe("beside another writer (CFG-03)", () => {
  test("that honours the lock, nobody loses anything", async () => {
    const path = put(".claude.json", COUNTED);
    const folders = numbered(5);
    const writer = startWriter(path, 300, 10, "lock");
    await writer.stdout.getReader().read();
    for (const folder of folders) {
      const report = await trust("claude", [folder]);
      expect(report.files[0]).toMatchObject({ written: true, added: [folder], problem: null });
    }
    expect(await writer.exited).toBe(0);
    expect(readCounted(path)).toEqual({ counter: 300, folders });
    expect(readdirSync(home).filter((name) => name.startsWith(".claude"))).toEqual([".claude.json"]);
  }, 60_000);

  test("of which four write without the lock whenever it is taken, every folder is in the file at the end", async () => {
    const path = put(".claude.json", COUNTED);
    const folders = numbered(6);
    const writers = Array.from({ length: 4 }, () => startWriter(path, 100_000, 25, "impatient"));
    for (const writer of writers) await writer.stdout.getReader().read();
    for (const folder of folders) {
      const report = await trust("claude", [folder]);
      expect(report.files[0]).toMatchObject({ written: true, added: [folder], problem: null });
    }
    for (const writer of writers) writer.kill("SIGKILL");
    for (const writer of writers) await writer.exited;
    expect(readCounted(path).folders).toEqual(folders);
  }, 60_000);

  test("that knows no lock and is slow, no step of it is lost", async () => {
    const path = put(".claude.json", COUNTED);
    const folders = numbered(6);
    const writer = startWriter(path, 10, 200, "");
    const lines = writer.stdout.getReader();
    for (const folder of folders) {
      await lines.read();
      expect((await trust("claude", [folder])).files[0]?.problem).toBeNull();
    }
    lines.releaseLock();
    expect(await writer.exited).toBe(0);
    await trust("claude", folders);
    expect(readCounted(path).counter).toBe(10);
    expect(readCounted(path).folders.sort()).toEqual(folders);
  }, 60_000);

  test("two batches at once: every folder of both, in one write each", async () => {
    const path = put(".claude.json", COUNTED);
    const [one, two] = [numbered(20, "a"), numbered(20, "b")];
    const children = [startPretrust("claude", one), startPretrust("claude", two)];
    const reports = await Promise.all(children.map(readReport));
    expect(reports.map((report) => report.files[0]?.added)).toEqual([one, two]);
    expect(readCounted(path).folders.sort()).toEqual([...one, ...two].sort());
  }, 30_000);

  test("one killed right after its write leaves a whole file, and a lock that goes stale", async () => {
    const path = put(".claude.json", COUNTED);
    const [a = "", b = ""] = makeFolders("a", "b");
    const child = startPretrust("claude", [a], { CONVOY_TEST_KILL_AFTER: "trust-write" });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    expect(readCounted(path).folders).toEqual([a]);
    const longAgo = Date.now() / 1000 - 11;
    utimesSync(`${path}.lock`, longAgo, longAgo);
    expect((await trust("claude", [b])).files[0]).toMatchObject({ written: true, problem: null });
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(readCounted(path).folders).toEqual([a, b]);
  }, 30_000);
});

test("the name that the agent's own getcwd says, and no other change (CFG-04)", async () => {
  const odd = '"a.b c é":{"10":1,"2":12345678901234567890},"__proto__":{"x":1},"history":["é"]';
  const path = put(".claude.json", `{${odd},"projects":{"/with.dots and é":{"__proto__":1}}}`);
  makeFolders("real/x", "real/ends in a space ", "real/back");
  symlinkSync("real", join(home, "link"));
  const spellings = ["real/x/", "real/back/../x", "link/x", "link/../real/ends in a space "];
  const folders = spellings.map((spelling) => `${home}/${spelling}`);
  const names = folders.map((folder) =>
    Bun.spawnSync(["/bin/pwd"], { cwd: folder }).stdout.toString().slice(0, -1),
  );
  await trust("claude", folders);
  const flags = [...new Set(names)].map((name) => `${JSON.stringify(name)}:{"hasTrustDialogAccepted":true}`);
  const expected = `{${odd},"projects":{"/with.dots and é":{"__proto__":1},${flags.join(",")}}}`;
  expect(readFileSync(path, "utf8")).toBe(expected);
  utimesSync(path, 1_000, 1_000);
  expect((await trust("claude", folders)).files[0]).toMatchObject({
    written: false,
    added: [],
    problem: null,
  });
  expect(statSync(path).mtimeMs).toBe(1_000_000);
});

test("20 MB of history cost seconds at most (CFG-04)", async () => {
  const history = Array.from({ length: 70_000 }, (_, i) => ({ display: `${i} ${"x".repeat(240)}` }));
  const path = put(".claude.json", JSON.stringify({ projects: { "/a": { history } } }, null, 2));
  const folders = numbered(20);
  const before = performance.now();
  expect((await trust("claude", folders)).files[0]).toMatchObject({ written: true, added: folders });
  const between = performance.now();
  expect((await trust("claude", folders)).files[0]?.written).toBe(false);
  const after = performance.now();
  console.log(
    `${(statSync(path).size / 1e6).toFixed(1)} MB: write ${Math.round(between - before)} ms, look ${Math.round(after - between)} ms`,
  );
  expect(after - before).toBeLessThan(10_000);
}, 30_000);

test("a linked worktree brings its main checkout, and nothing in it is written (CFG-05)", async () => {
  const [main = "", tree = "", sub = ""] = makeFolders("main", "tree", "tree/sub");
  makeFolders("main/.git/worktrees/tree", ".claude");
  put("main/.git/worktrees/tree/commondir", "../..\n");
  put("main/.git/worktrees/tree/gitdir", `${tree}/.git\n`);
  put("tree/.git", `gitdir: ${main}/.git/worktrees/tree\n`);
  const before = Bun.spawnSync(["find", main, tree, "-printf", "%p %T@ %s\n"]).stdout.toString();
  const report = await trust("claude", [sub]);
  expect(report.files[0]?.added).toEqual([sub, main]);
  expect(Bun.spawnSync(["find", main, tree, "-printf", "%p %T@ %s\n"]).stdout.toString()).toBe(before);
});

test("one entry per folder, however it is spelled, and untrusted stays (CFG-06)", async () => {
  makeFolders(".codex");
  const [a = "", b = "", c = "", d = ""] = makeFolders("a", "b", "c", "d");
  const string = `notes = """\n[projects."${d}"]\ntrust_level = "trusted"\n"""\n`;
  const text = `projects."${c}".trust_level = "trusted"\n${string}[projects.'${a}']\ntrust_level = 'trusted'\n[projects."${b}"]\ntrust_level = "untrusted"\n`;
  const path = put(".codex/config.toml", text);
  const report = await trust("codex", [a, b, c, d]);
  expect(report.files[0]).toMatchObject({ written: true, added: [d], refused: [b], problem: null });
  const after = readFileSync(path, "utf8");
  parseTOML(after);
  expect(after).toContain(string);
  const level = (name: string) => ({ trust_level: name });
  const projects: unknown = parse(after).projects;
  expect(projects).toEqual({
    [a]: level("trusted"),
    [b]: level("untrusted"),
    [c]: level("trusted"),
    [d]: level("trusted"),
  });
  expect((await trust("codex", [a, b, c, d])).files[0]).toMatchObject({ written: false, refused: [b] });
  put(".codex/config.toml", `projects = { '${a}' = { trust_level = "trusted" } } # mine\r\n[t]\r\n`);
  expect((await trust("codex", [a, b])).files[0]?.added).toEqual([b]);
  parseTOML(readFileSync(path, "utf8"));
});

test("comments, line ends and the link stay; a read-only target is left alone (CFG-07)", async () => {
  makeFolders(".codex", "dot", "w", "v");
  const text = '# mine\r\nz = [\r\n  1, # one\r\n]\r\n\r\n[unknown.table] # odd\r\na = """\r\n"""\r\n';
  const target = put("dot/config.toml", text);
  symlinkSync("../dot/config.toml", join(home, ".codex/config.toml"));
  await trust("codex", [join(home, "w")]);
  const added = `\r\n[projects."${home}/w"]\r\ntrust_level = "trusted"\r\n`;
  expect(readFileSync(target, "utf8")).toBe(text + added);
  chmodSync(target, 0o444);
  const report = await trust("codex", [join(home, "v")]);
  expect(report.files[0]).toMatchObject({
    written: false,
    added: [],
    problem: expect.stringContaining("read-only"),
  });
  expect(readFileSync(target, "utf8")).toBe(text + added);
  expect([readdirSync(join(home, "dot")), readdirSync(join(home, ".codex"))]).toEqual([
    ["config.toml"],
    ["config.toml"],
  ]);
});

test("a config that may not be read is left alone (CFG-02)", async () => {
  const path = put(".claude.json", COUNTED);
  const [folder = ""] = makeFolders("w");
  chmodSync(path, 0o000);
  const nobody = 65_534;
  const asNobody = process.getuid?.() === 0;
  if (asNobody) for (const file of [path, home, folder]) chownSync(file, nobody, nobody);
  const prefix = asNobody ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [];
  const child = start([...prefix, process.execPath, join(FIXTURES, "pretrust.ts"), "claude", folder]);
  const report = await readReport(child);
  expect(report.files[0]).toMatchObject({ path, written: false });
  expect(report.files[0]?.problem).toStartWith(`${path}: permission denied`);
  chmodSync(path, 0o600);
  expect(readFileSync(path, "utf8")).toBe(COUNTED);
}, 30_000);

const ISOLATED = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"] as const;
const SMALL_DISK = "mount -t tmpfs -o size=64k none";
const noMounts = missingUnless([...ISOLATED, `${SMALL_DISK} /tmp`], "it needs a mount name space");

skippable(
  "a full disk changes nothing, and nothing needs repair afterwards (CFG-08)",
  noMounts,
  async () => {
    const script = `set -e; ${SMALL_DISK} "$HOME"; mkdir "$HOME/w"
    { printf '{"history":"'; head -c 20000 /dev/zero | tr '\\0' x; echo '"}'; } > "$HOME/.claude.json"
    cp "$HOME/.claude.json" "$0/before"
    cat /dev/zero > "$HOME/fill" 2>/dev/null || true
    "$1" "$2" claude "$HOME/w"
    cmp "$HOME/.claude.json" "$0/before"; ls -A "$HOME" | tr '\\n' ' '; echo
    rm "$HOME/fill"; "$1" "$2" claude "$HOME/w"; ls -A "$HOME" | tr '\\n' ' '`;
    const outside = mkdtempSync("/tmp/cv-");
    try {
      const fixture = join(FIXTURES, "pretrust.ts");
      const child = start([...ISOLATED, script, outside, process.execPath, fixture]);
      const [full = "", left, later = "", right] = (await new Response(child.stdout).text()).split("\n");
      const { files } = JSON.parse(full) as PretrustReport;
      expect(files[0]).toMatchObject({
        written: false,
        problem: expect.stringContaining("no space left on the disk"),
      });
      expect(left).toBe(".claude.json fill w ");
      expect(JSON.parse(later).files[0]).toMatchObject({
        written: true,
        added: [`${home}/w`],
        problem: null,
      });
      expect(right).toBe(".claude.json w ");
      expect(await child.exited).toBe(0);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  },
  30_000,
);

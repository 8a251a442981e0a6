/** Workspaces are trusted before any agent runs in one, in a single write, and never at the agents' cost. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DEADLINE_MS, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

const AGENTS = ["a", "b", "c", "d", "e"];
/**
 * What each harness does first: notes its name, whether its own folder is trusted in its own config file, and which
 * file that is (by inode: a second write would be another).
 */
const looking = (file: string, key: string) => `#!/bin/sh
file="${file}"
trusted=no
grep -qF "${key}" "$file" && trusted=yes
set -- $(ls -i "$file")
echo "\${ST_AGENT#box.} $trusted $1" >>"$HOME/looked.log"
exec sleep 100000
`;
// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
const CLAUDE = looking("${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json", '\\"$(pwd -P)\\"');
const CODEX = looking("$HOME/.codex/config.toml", '[projects.\\"$(pwd -P)\\"]');

let net: Net;
let config: string;
beforeEach(() => {
  net = new Net();
  config = join(net.home, ".claude.json");
  net.program("claude", CLAUDE);
  net.program("codex", CODEX);
});
afterEach(() => net.remove());

interface Looked {
  readonly identity: string;
  readonly trusted: string;
  readonly inode: number;
}

/** What the harnesses saw, once `count` of them have looked; sorted by identity. */
async function looked(count: number): Promise<Looked[]> {
  const path = join(net.home, "looked.log");
  const rows = await until(`${count} harnesses to look`, () => {
    const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
    return lines.length >= count && lines;
  });
  return rows
    .sort()
    .map((line) => line.split(" "))
    .map(([identity = "", trusted = "", inode]) => ({ identity, trusted, inode: Number(inode) }));
}

const declareAll = (identities = AGENTS) => {
  for (const identity of identities) net.declare(identity, { command: null });
};
const trustedPaths = (file = config) =>
  Object.keys(JSON.parse(readFileSync(file, "utf8")).projects ?? {}).sort();
const workspace = (identity: string) => join(realpathSync(net.root), "worktrees", identity);

test("SUP-R15 SUP-R16: every agent of a first bring-up finds its own workspace trusted at its first instruction, all by one write", async () => {
  writeFileSync(config, '{\n  "theme": "dark",\n  "projects": { "/elsewhere": { "x": 1 } }\n}\n', {
    mode: 0o600,
  });
  const before = statSync(config).ino;
  declareAll();
  const { code, events } = await net.once();
  expect(code).toBe(0);
  const { ino } = statSync(config);
  expect(ino).not.toBe(before);
  expect(await looked(5)).toEqual(AGENTS.map((identity) => ({ identity, trusted: "yes", inode: ino })));
  const added = AGENTS.map(workspace);
  expect(events.filter(({ type }) => type === "pretrust")).toMatchObject([
    { files: [{ path: config, written: true, added, problem: null }] },
  ]);
  expect(events.findIndex(({ type }) => type === "pretrust")).toBeLessThan(
    events.findIndex(({ type }) => type === "launch"),
  );
  expect(JSON.parse(readFileSync(config, "utf8"))).toMatchObject({
    theme: "dark",
    projects: { "/elsewhere": { x: 1 } },
  });
  expect(trustedPaths()).toEqual(["/elsewhere", ...added].sort());
  // Nothing is missing, so nothing is written.
  const { mtimeMs, ctimeMs } = statSync(config);
  expect((await net.once()).events.map(({ type }) => type)).not.toContain("pretrust");
  expect(statSync(config)).toMatchObject({ ino, mtimeMs, ctimeMs });
});

test("SUP-R16 SUP-C03: harnesses that flush at the end what they read at their start lose nobody's trust", async () => {
  // Each keeps the config as it found it, and puts it back when all have started: the last writer wins.
  net.program(
    "claude",
    `#!/bin/sh
name=\${ST_AGENT#box.}
cp "$HOME/.claude.json" "$HOME/$name.copy"
echo "$name yes 0" >>"$HOME/looked.log"
until [ "$(wc -l <"$HOME/looked.log")" -ge ${AGENTS.length} ]; do sleep 0.05; done
mv "$HOME/$name.copy" "$HOME/.claude.json"
echo "$name" >>"$HOME/flushed.log"
exec sleep 100000
`,
  );
  declareAll();
  expect((await net.once()).code).toBe(0);
  await until("five flushes", () => {
    const path = join(net.home, "flushed.log");
    return existsSync(path) && readFileSync(path, "utf8").trim().split("\n").length === 5;
  });
  expect(trustedPaths()).toEqual(AGENTS.map(workspace));
});

test("SUP-R16 SUP-C03: a writer that honours the config's lock loses nothing, and neither do we", async () => {
  writeFileSync(config, '{"count": 0, "projects": {}}');
  const lock = `${config}.lock`;
  let stop = false;
  let count = 0;
  const writer = (async () => {
    while (!stop) {
      if (!tryLock(lock)) {
        await Bun.sleep(1);
        continue;
      }
      const held = JSON.parse(readFileSync(config, "utf8"));
      await Bun.sleep(2);
      count += 1;
      writeFileSync(`${config}.w`, JSON.stringify({ ...held, count }));
      renameSync(`${config}.w`, config);
      rmSync(lock, { recursive: true });
      await Bun.sleep(3);
    }
  })();
  await until("the writer to be at work", () => count > 3);
  declareAll();
  const { code } = await net.once();
  const seen = await looked(5);
  stop = true;
  await writer;
  expect([code, seen.map(({ trusted }) => trusted)]).toEqual([0, ["yes", "yes", "yes", "yes", "yes"]]);
  expect(JSON.parse(readFileSync(config, "utf8")).count).toBe(count);
  expect(trustedPaths()).toEqual(AGENTS.map(workspace));
});

function tryLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

test("SUP-R16: one write covers the workspaces of running sessions and of the catalog, declared or not any more", async () => {
  const file = net.declare("a", { command: null });
  net.declare("retired", { command: null, lines: ["retired = true"] });
  net.declare("foreign", { command: null, host: "elsewhere" });
  net.declare("moved", { command: null, path: "moved.toml" });
  await net.once();
  expect(trustedPaths()).toEqual(["a", "moved"].map(workspace));
  await looked(2);
  // Both run on, the one without a declaration, and their trust is lost to somebody's stale copy.
  rmSync(file);
  net.declare("moved", { command: null, path: "moved.toml", host: "elsewhere" });
  writeFileSync(config, '{"projects": {}}');
  net.declare("b", { command: null });
  net.declare("c", { command: null });
  const { events } = await net.once();
  expect(events.find(({ type }) => type === "pretrust")).toMatchObject({
    files: [{ path: config, written: true, added: ["a", "b", "c", "moved"].map(workspace) }],
  });
  expect((await looked(4)).map(({ identity, trusted }) => [identity, trusted])).toEqual([
    ["a", "yes"],
    ["b", "yes"],
    ["c", "yes"],
    ["moved", "yes"],
  ]);
});

test("SUP-R15: trust goes to the file that the harness will read, under the real path of its workspace", async () => {
  const real = join(net.home, "real");
  mkdirSync(real);
  symlinkSync(real, join(net.home, "link"));
  mkdirSync(join(net.home, "conf"));
  net.declare("linked", { command: null, lines: [`workspace = "${net.home}/link"`] });
  net.declare("own", { command: null, tables: ["[env]", `CLAUDE_CONFIG_DIR = "${net.home}/conf"`] });
  net.declare("x", { command: null, lines: ['harness = "codex"'] });
  expect((await net.once()).code).toBe(0);
  expect((await looked(3)).map(({ identity, trusted }) => [identity, trusted])).toEqual([
    ["linked", "yes"],
    ["own", "yes"],
    ["x", "yes"],
  ]);
  expect([trustedPaths(), trustedPaths(join(net.home, "conf", ".claude.json"))]).toEqual([
    [realpathSync(real)],
    [workspace("own")],
  ]);
});

for (const [name, text] of [
  ["does not parse", '{"projects": {,}}'],
  ["is cut off", '{"projects": {"/x"'],
  ["is a list", "[]"],
] as const)
  test(`SUP-R17: a config that ${name} is left byte for byte, it is said, and the agents start all the same`, async () => {
    writeFileSync(config, text);
    declareAll(["a", "b"]);
    const { code, events, summary } = await net.once();
    expect([code, summary, readFileSync(config, "utf8")]).toEqual([1, "launched 2", text]);
    const said = events.find((event) => event.type === "pretrust");
    expect(said).toMatchObject({
      files: [{ path: config, written: false, problem: expect.stringContaining(config) }],
    });
    expect((await looked(2)).map(({ trusted }) => trusted)).toEqual(["no", "no"]);
    // Once it is mended, the next pass makes good what was missed.
    writeFileSync(config, "{}");
    expect(await net.once()).toMatchObject({ code: 0, summary: "adopted 2" });
    expect(trustedPaths()).toEqual(["a", "b"].map(workspace));
  });

test("SUP-R17: a home that cannot be written to does not keep the agents from starting", async () => {
  // A folder in the file's place: nobody can write there, root neither.
  mkdirSync(config);
  declareAll(["a", "b"]);
  net.program("claude", "#!/bin/sh\nexec agent $(basename $(pwd))\n");
  const { code, events, summary } = await net.once();
  expect([code, summary]).toEqual([1, "launched 2"]);
  expect(events.find((event) => event.type === "pretrust")).toMatchObject({
    files: [{ path: config, written: false }],
  });
  await Promise.all(["a", "b"].map((identity) => net.running(identity)));
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { type ConfigFile, mergeClaudeTrust, mergeCodexTrust, type TrustMerge } from "../trust.ts";
import { acquireConfigLock } from "./config-lock.ts";
import { updateConfig } from "./update-config.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync("/tmp/cv-");
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const OLD =
  '{\n  "numStartups": 7,\n  "mcpServers": {},\n  "oauthAccount": {\n    "id": 12345678901234567890\n  }\n}\n';

function claude(name = ".claude.json"): ConfigFile {
  return { path: join(home, name), locked: true, folder: null };
}

function addClaude(text: string | null): TrustMerge {
  return mergeClaude(text, ["/w"]);
}

function mergeClaude(text: string | null, workspaces: readonly string[]): TrustMerge {
  const merged = mergeClaudeTrust(text, workspaces);
  return "problem" in merged ? merged : { ...merged, refused: [] };
}

function update(file: ConfigFile = claude()) {
  return updateConfig(file, addClaude, 300);
}

function put(name: string, text: string | Buffer): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

const WRITTEN = { written: true, problem: null };

describe("a link (CFG-01)", () => {
  test.each([
    ["absolute", () => join(home, "dot/claude.json")],
    ["relative", () => "dot/claude.json"],
    // The kernel goes up from where the linked folder is: from dot/deep to dot.
    ["through a linked folder and up again", () => "alias/../claude.json"],
  ])("%s stays, and its target is written", async (_what, linkText) => {
    const target = put("dot/claude.json", OLD);
    mkdirSync(join(home, "dot/deep"));
    symlinkSync("dot/deep", join(home, "alias"));
    symlinkSync(linkText(), join(home, ".claude.json"));
    expect(await update()).toMatchObject(WRITTEN);
    expect(readlinkSync(join(home, ".claude.json"))).toBe(linkText());
    expect(readFileSync(target, "utf8")).toBe((addClaude(OLD) as { text: string }).text);
    expect(readdirSync(join(home, "dot")).sort()).toEqual(["claude.json", "deep"]);
    expect(readdirSync(home).sort()).toEqual([".claude.json", "alias", "dot"]);
  });

  test("that dangles gets its target", async () => {
    mkdirSync(join(home, "dot"));
    symlinkSync("dot/claude.json", join(home, ".claude.json"));
    expect(await update()).toMatchObject(WRITTEN);
    expect(lstatSync(join(home, ".claude.json")).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(home, "dot/claude.json"), "utf8"))).toEqual({
      projects: { "/w": { hasTrustDialogAccepted: true } },
    });
  });

  test("into a folder that is not there is a problem, and stays", async () => {
    symlinkSync("dot/claude.json", join(home, ".claude.json"));
    const { written, problem } = await update();
    expect(written).toBe(false);
    expect(problem).toStartWith(`${home}/.claude.json: a folder on the way to it does not exist`);
    expect(readdirSync(home)).toEqual([".claude.json"]);
  });

  test("in circles is a problem", async () => {
    symlinkSync("b", join(home, "a"));
    symlinkSync("a", join(home, "b"));
    expect((await update(claude("a"))).problem).toContain("is a link that leads in circles");
  });
});

describe("what does not parse stays byte for byte (CFG-02)", () => {
  test.each([
    ["a trailing comma", '{"a":1,}', "line 1"],
    ["a comment", '{/* mine */"a":1}', "line 1"],
    ["a cut", '{"a":{"b"', "line 1"],
    ["an array", "[]", "the top level is not an object"],
    ["projects as an array", '{"projects":[]}', '"projects" is not an object'],
    ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "it is not valid UTF-8"],
  ])("%s", async (_what, bytes, reason) => {
    const path = put(".claude.json", bytes);
    const before = hashOf(path);
    const { written, problem } = await update();
    expect(written).toBe(false);
    expect(problem).toStartWith(`${path}: ${reason}`);
    expect(hashOf(path)).toBe(before);
    expect(readdirSync(home)).toEqual([".claude.json"]);
  });

  test("a file that is half written at first is looked at again", async () => {
    const path = put(".claude.json", '{"a":1,');
    const pending = update();
    writeFileSync(path, '{"a":1,"b":2}');
    expect(await pending).toMatchObject(WRITTEN);
  });

  test("what is not a file is a problem, and nothing waits for it", async () => {
    mkdirSync(join(home, ".claude.json"));
    expect((await update()).problem).toContain("is not a regular file");
    symlinkSync("/dev/null", join(home, "null"));
    expect((await update(claude("null"))).problem).toContain("/dev/null is not a regular file");
    Bun.spawnSync(["mkfifo", join(home, "fifo")]);
    expect((await update(claude("fifo"))).problem).toContain("is not a regular file");
  });
});

describe("what is there already (CFG-04)", () => {
  test("is not written, not touched, and takes no lock", async () => {
    const path = put(".claude.json", (addClaude(OLD) as { text: string }).text);
    mkdirSync(`${path}.lock`);
    utimesSync(path, 1_000, 1_000);
    expect(await update()).toMatchObject({ written: false, problem: null });
    expect(statSync(path).mtimeMs).toBe(1_000_000);
  });

  test("mode and owner are kept, a new file is private", async () => {
    const path = put(".claude.json", OLD);
    chmodSync(path, 0o664);
    if (process.getuid?.() === 0) chownSync(path, 1234, 2345);
    const before = statSync(path);
    expect(await update()).toMatchObject(WRITTEN);
    const after = statSync(path);
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(await update(claude("new.json"))).toMatchObject(WRITTEN);
    expect(statSync(join(home, "new.json")).mode & 0o777).toBe(0o600);
  });
});

describe("what may not be written (CFG-07)", () => {
  test("a read-only file is a problem, for root too", async () => {
    const target = put("dot/claude.json", OLD);
    chmodSync(target, 0o444);
    symlinkSync("dot/claude.json", join(home, ".claude.json"));
    const { written, problem } = await update();
    expect(written).toBe(false);
    expect(problem).toStartWith(`${home}/.claude.json: ${target} is read-only`);
    expect(readFileSync(target, "utf8")).toBe(OLD);
    expect(readdirSync(join(home, "dot"))).toEqual(["claude.json"]);
    expect(readdirSync(home).sort()).toEqual([".claude.json", "dot"]);
  });

  test("a folder that is needed is made, its parent is not", async () => {
    const made = { path: join(home, ".codex/config.toml"), locked: false, folder: join(home, ".codex") };
    const merge = (text: string | null) => mergeCodexTrust(text, ["/w"]);
    expect(await updateConfig(made, merge)).toMatchObject(WRITTEN);
    expect(statSync(join(home, ".codex")).mode & 0o777).toBe(0o700);
    const far = { path: join(home, "no/x/config.toml"), locked: false, folder: join(home, "no/x") };
    expect((await updateConfig(far, merge)).problem).toContain("a folder on the way to it does not exist");
    expect(readdirSync(home)).toEqual([".codex"]);
  });
});

describe("the lock (CFG-03)", () => {
  test("of a living holder is waited for, so long and no longer", async () => {
    const path = put(".claude.json", OLD);
    mkdirSync(`${path}.lock`);
    const { written, problem } = await update();
    expect(written).toBe(false);
    expect(problem).toContain(`${path}.lock has been held by another process`);
    expect(readFileSync(path, "utf8")).toBe(OLD);
    const pending = updateConfig(claude(), addClaude);
    rmSync(`${path}.lock`, { recursive: true });
    expect(await pending).toMatchObject(WRITTEN);
  });

  test("of a dead process is broken", async () => {
    const path = put(".claude.json", OLD);
    mkdirSync(`${path}.lock`);
    const longAgo = Date.now() / 1000 - 11;
    utimesSync(`${path}.lock`, longAgo, longAgo);
    expect(await update()).toMatchObject(WRITTEN);
    expect(readdirSync(home)).toEqual([".claude.json"]);
  });

  test("stands beside the link", async () => {
    put("dot/claude.json", OLD);
    symlinkSync("dot/claude.json", join(home, ".claude.json"));
    mkdirSync(join(home, "dot/claude.json.lock"));
    expect(await update()).toMatchObject(WRITTEN);
    mkdirSync(join(home, ".claude.json.lock"));
    const another = (text: string | null) => mergeClaude(text, ["/another"]);
    const again = await updateConfig(claude(), another, 50);
    expect(again.problem).toContain(`${home}/.claude.json.lock has been held`);
  });

  test("that cannot be removed is said", async () => {
    const path = join(home, ".claude.json");
    const lock = await acquireConfigLock(path, 0);
    writeFileSync(`${path}.lock/x`, "");
    expect(await lock.release()).toStartWith(`${path}.lock could not be removed: ENOTEMPTY`);
  });

  test("is not needed for a write between our look and our rename to be kept", async () => {
    const path = put("config.toml", "a = 1\n");
    let looks = 0;
    const result = await updateConfig({ path, locked: false, folder: null }, (text) => {
      looks += 1;
      if (looks <= 3) writeFileSync(path, `a = ${looks + 1}\n`);
      return mergeCodexTrust(text, ["/w"]);
    });
    expect(result).toMatchObject(WRITTEN);
    expect(readFileSync(path, "utf8")).toBe('a = 4\n\n[projects."/w"]\ntrust_level = "trusted"\n');
  });

  test("a file that never rests is given up", async () => {
    const path = put("config.toml", "a = 1\n");
    let looks = 0;
    const result = await updateConfig({ path, locked: false, folder: null }, (text) => {
      looks += 1;
      writeFileSync(path, `a = ${looks + 1}\n`);
      return mergeCodexTrust(text, ["/w"]);
    });
    expect(result.problem).toBe(`${path}: other programs keep writing it; try again`);
    expect(readFileSync(path, "utf8")).toBe(`a = ${looks + 1}\n`);
    expect(readdirSync(home)).toEqual(["config.toml"]);
  });
});

describe("a program that had read the file before, and puts its copy over ours", () => {
  /** A writer on its way: what it will rename, under the name that a living process gives it. */
  function putOnTheWay(path: string, text: string): { arrive(): void; end(): void } {
    const writer = Bun.spawn(["sleep", "1000"]);
    const temporary = `${path}.tmp.${writer.pid}.0a1b`;
    writeFileSync(temporary, text);
    return { arrive: () => renameSync(temporary, path), end: () => writer.kill("SIGKILL") };
  }

  async function untilTrusted(path: string): Promise<void> {
    while (!readFileSync(path, "utf8").includes('"/w"')) await Bun.sleep(1);
  }

  test.each([
    ["with members of its own", '{\n  "numStartups": 8,\n  "theirs": true\n}\n'],
    ["as we had read it", OLD],
  ])("%s: it is waited for, and what it undid is written again", async (_what, text) => {
    const path = put(".claude.json", OLD);
    utimesSync(path, 1_000, 1_000);
    const writer = putOnTheWay(path, text);
    const pending = update();
    await untilTrusted(path);
    // Longer than anything but a file on the way is waited for.
    await Bun.sleep(1_500);
    writer.arrive();
    expect(await pending).toMatchObject({ ...WRITTEN, merged: { added: ["/w"] } });
    writer.end();
    expect(readFileSync(path, "utf8")).toBe((addClaude(text) as { text: string }).text);
    expect(readdirSync(home)).toEqual([".claude.json"]);
  });

  test("and never ceases: it is given up, and said", async () => {
    const path = put("config.toml", "a = 1\n");
    const file = { path, locked: false, folder: null };
    let stop = false;
    const undoing = (async () => {
      while (!stop) {
        if (readFileSync(path, "utf8") !== "a = 1\n") {
          writeFileSync(`${path}.other`, "a = 1\n");
          renameSync(`${path}.other`, path);
        }
        await Bun.sleep(1);
      }
    })();
    const { written, problem } = await updateConfig(file, (text) => mergeCodexTrust(text, ["/w"]));
    stop = true;
    await undoing;
    expect([written, problem]).toEqual([
      true,
      `${path}: other programs keep undoing what was written; try again`,
    ]);
  });

  test("in the place of which a dead one left its file: nobody is waited for", async () => {
    const path = put("config.toml", "a = 1\n");
    const gone = Bun.spawn(["true"]);
    await gone.exited;
    writeFileSync(`${path}.tmp.${gone.pid}.0a1b`, "");
    const result = await updateConfig({ path, locked: false, folder: null }, (text) =>
      mergeCodexTrust(text, ["/w"]),
    );
    expect(result).toMatchObject(WRITTEN);
  });
});

import { describe, expect, test } from "bun:test";
import { type ConfigFile, pretrust, type TrustAccess, type TrustRequest } from "./trust.ts";

interface World {
  readonly files?: Record<string, string>;
  readonly folders?: readonly string[];
  /** Path as given, to real path; everything else is its own. */
  readonly links?: Record<string, string>;
  readonly absent?: readonly string[];
  readonly worktrees?: Record<string, string>;
  readonly programs?: readonly string[];
}

function access(world: World): TrustAccess & { updates: ConfigFile[] } {
  const updates: ConfigFile[] = [];
  return {
    updates,
    readRealPath: (path) =>
      path.startsWith("/closed")
        ? { problem: `${path} is closed` }
        : { path: world.links?.[path] ?? path, exists: world.absent?.includes(path) !== true },
    readMainCheckout: (folder) => world.worktrees?.[folder] ?? null,
    readFileExists: (path) => world.files?.[path] !== undefined,
    readFolderExists: (path) => world.folders?.includes(path) === true,
    readIsOnPath: (program, pathValue) => world.programs?.includes(`${pathValue}/${program}`) === true,
    async updateConfig(file, merge) {
      const { path, locked, folder } = file;
      const merged = merge(world.files?.[path] ?? null);
      if (merged !== null && "problem" in merged)
        return { merged, written: false, problem: `${path}: ${merged.problem}` };
      if (merged?.changed === true) updates.push({ path, locked, folder });
      return { merged, written: merged?.changed === true, problem: null };
    },
  };
}

const HOME = { HOME: "/h", PATH: "/bin" };
const untouched = { written: false, added: [], refused: [], problem: null, note: null };

function ask(
  harness: TrustRequest["harness"],
  workspace: string,
  env: TrustRequest["env"] = HOME,
): TrustRequest {
  return { harness, workspace, env };
}

describe("pretrust", () => {
  test("one update per file for the whole batch, with real paths and main checkouts", async () => {
    const disk = access({
      files: { "/h/.claude.json": "{}", "/h/.codex/config.toml": "" },
      links: { "/link": "/real" },
      worktrees: { "/tree": "/main" },
    });
    const requests = [
      ask("claude", "/link"),
      ask("codex", "/link"),
      ask("claude", "/tree"),
      ask("claude", "/real"),
      ask("opencode", "/o"),
      ask("pi", "/p"),
    ];
    expect(await pretrust(requests, disk)).toEqual({
      files: [
        { ...untouched, path: "/h/.claude.json", written: true, added: ["/real", "/tree", "/main"] },
        { ...untouched, path: "/h/.codex/config.toml", written: true, added: ["/real"] },
      ],
      missing: [],
      unresolved: [],
    });
    expect(disk.updates).toEqual([
      { path: "/h/.claude.json", locked: true, folder: null },
      { path: "/h/.codex/config.toml", locked: false, folder: "/h/.codex" },
    ]);
  });

  test.each<[string, TrustRequest["harness"], TrustRequest["env"], string, string | null]>([
    ["claude", "claude", HOME, "/h/.claude.json", null],
    ["claude, moved", "claude", { ...HOME, CLAUDE_CONFIG_DIR: "/c" }, "/c/.claude.json", "/c"],
    [
      "claude, moved without a home",
      "claude",
      { PATH: "/bin", CLAUDE_CONFIG_DIR: "/c" },
      "/c/.claude.json",
      "/c",
    ],
    [
      "claude, moved from where it starts",
      "claude",
      { ...HOME, CLAUDE_CONFIG_DIR: "c" },
      "/w/c/.claude.json",
      "/w/c",
    ],
    ["claude, moved nowhere", "claude", { ...HOME, CLAUDE_CONFIG_DIR: "" }, "/h/.claude.json", null],
    ["codex", "codex", { ...HOME, CLAUDE_CONFIG_DIR: "/c" }, "/h/.codex/config.toml", "/h/.codex"],
    ["codex, moved", "codex", { ...HOME, CODEX_HOME: "/c" }, "/c/config.toml", "/c"],
  ])("the file that %s reads", async (_what, harness, env, path, folder) => {
    const disk = access({ programs: ["/bin/claude", "/bin/codex"] });
    const { files } = await pretrust([ask(harness, "/w", env)], disk);
    expect(files).toEqual([{ ...untouched, path, written: true, added: ["/w"] }]);
    expect(disk.updates).toEqual([{ path, locked: harness === "claude", folder }]);
  });

  test("claude's early config file comes first where it exists", async () => {
    const disk = access({ files: { "/h/.claude/.config.json": "{}", "/h/.claude.json": "{}" } });
    const { files } = await pretrust([ask("claude", "/w")], disk);
    expect(files.map((file) => file.path)).toEqual(["/h/.claude/.config.json"]);
  });

  test("a missing file is made only for a program that is here", async () => {
    const note = "claude is not on the agent's PATH and has no folder here: no config file was made";
    const absent = { ...untouched, path: "/h/.claude.json", note };
    const made = { ...untouched, path: "/h/.claude.json", written: true, added: ["/w"] };
    const request = [ask("claude", "/w")];
    expect((await pretrust(request, access({}))).files).toEqual([absent]);
    expect((await pretrust(request, access({ programs: ["/other/claude"] }))).files).toEqual([absent]);
    expect((await pretrust(request, access({ programs: ["/bin/claude"] }))).files).toEqual([made]);
    expect((await pretrust(request, access({ folders: ["/h/.claude"] }))).files).toEqual([made]);
    const several = [ask("claude", "/v", { HOME: "/h" }), ...request];
    expect((await pretrust(several, access({ programs: ["/bin/claude"] }))).files).toEqual([
      { ...made, added: ["/v", "/w"] },
    ]);
  });

  test("two names of one file are one update", async () => {
    const disk = access({
      files: { "/h/.claude.json": "{}", "/alias/.claude.json": "{}" },
      links: { "/alias": "/h" },
    });
    const { files } = await pretrust([ask("claude", "/v", { HOME: "/alias" }), ask("claude", "/w")], disk);
    expect(files).toEqual([
      { ...untouched, path: "/alias/.claude.json", written: true, added: ["/v", "/w"] },
    ]);
  });

  test("says what it could not do, and does the rest", async () => {
    const disk = access({
      files: {
        "/h/.claude.json": "[]",
        "/h/.codex/config.toml": '[projects."/no"]\ntrust_level = "untrusted"\n',
      },
      absent: ["/later"],
    });
    const requests = [
      ask("claude", "/w"),
      ask("codex", "/no"),
      ask("codex", "/later"),
      ask("codex", "/closed"),
      ask("claude", "/x", {}),
    ];
    expect(await pretrust(requests, disk)).toEqual({
      files: [
        { ...untouched, path: "/h/.claude.json", problem: "/h/.claude.json: the top level is not an object" },
        { ...untouched, path: "/h/.codex/config.toml", written: true, added: ["/later"], refused: ["/no"] },
      ],
      missing: ["/later"],
      unresolved: [
        { workspace: "/closed", problem: "/closed is closed" },
        { workspace: "/x", problem: "HOME is not set in the agent's environment" },
      ],
    });
  });

  test("asked again it writes nothing", async () => {
    const text = '{"projects":{"/w":{"hasTrustDialogAccepted":true}}}';
    const disk = access({ files: { "/h/.claude.json": text } });
    expect((await pretrust([ask("claude", "/w")], disk)).files).toEqual([
      { ...untouched, path: "/h/.claude.json" },
    ]);
    expect(disk.updates).toEqual([]);
  });
});

/** The real harnesses ask whether to trust a folder, until convoy has written that they do. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import {
  type HarnessAgent,
  HarnessNet,
  type HarnessPlace,
  PATIENCE_MS,
  PROGRAMS,
  type Program,
  type Shown,
} from "./kit.ts";

setDefaultTimeout(3 * PATIENCE_MS);

let net: HarnessNet;
beforeEach(() => {
  net = new HarnessNet();
});
afterEach(() => net.remove());

interface Place extends HarnessPlace {
  readonly workspace: string;
  /** What the program's config has to say, so that it does not ask here. */
  readonly trusts: readonly string[];
  /** The configuration folder in which it says so; null for the one in the home folder. */
  readonly config: string | null;
  /** That file; the program's usual one when absent. */
  readonly file?: string;
}

const git = (folder: string, ...words: string[]) => {
  const who = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  const { exitCode, stderr } = Bun.spawnSync(["git", ...who, ...words], { cwd: folder, env: net.env() });
  if (exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
};

function repository(path: string): string {
  const folder = net.folder(path);
  git(folder, "init", "-q");
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
  return folder;
}

/** Each kind of folder, in a repository of its own, so that none is trusted by another's. */
function makePlaces(program: Program): Record<string, Place> {
  const plain = repository("plain");
  const sub = join(repository("above"), "sub");
  mkdirSync(sub);
  const main = repository("main");
  git(main, "worktree", "add", "-q", "../tree");
  const tree = join(main, "../tree");
  const linked = repository("linked");
  symlinkSync(linked, join(net.home, "link"));
  const variable = program === "claude" ? "CLAUDE_CONFIG_DIR" : "CODEX_HOME";
  const own = net.configFolder("own", program);
  const relocated = repository("relocated");
  const places: Record<string, Place> = {
    repository: { workspace: plain, trusts: [plain], config: null },
    subdirectory: { workspace: sub, trusts: [sub], config: null },
    worktree: { workspace: tree, trusts: [tree, main], config: null },
    link: { workspace: join(net.home, "link"), trusts: [linked], config: null },
    relocated: { workspace: relocated, trusts: [relocated], config: own, env: { [variable]: own } },
  };
  if (program === "codex") return places;
  const early = net.configFolder("early", program, ".config.json");
  const old = net.folder("old");
  const env = { CLAUDE_CONFIG_DIR: early };
  return { ...places, early: { workspace: old, trusts: [old], config: early, file: ".config.json", env } };
}

/** The file that the program reads there. */
function configOf(program: Program, { config, file }: Place): string {
  if (program === "codex") return config === null ? net.codexConfig : join(config, "config.toml");
  return config === null ? net.claudeConfig : join(config, file ?? ".claude.json");
}

function trustedIn(program: Program, place: Place): string[] {
  const path = configOf(program, place);
  if (program === "claude") return net.trusted(path);
  const { projects = {} } = parse(readFileSync(path, "utf8")) as { projects?: Record<string, unknown> };
  return Object.keys(projects);
}

/** What the configs have to say when every place is trusted, by file. */
function expectedTrust(program: Program, places: readonly Place[]): Record<string, string[]> {
  const byFile = Object.groupBy(places, (place) => configOf(program, place));
  return Object.fromEntries(
    Object.entries(byFile).map(([path, some = []]) => [path, some.flatMap(({ trusts }) => trusts).sort()]),
  );
}

function writtenTrust(program: Program, places: readonly Place[]): Record<string, string[]> {
  return Object.fromEntries(
    places.map((place) => [configOf(program, place), trustedIn(program, place).sort()]),
  );
}

const all = (agents: readonly HarnessAgent[], shown: Shown) =>
  Object.fromEntries(agents.map(({ identity }) => [identity, shown]));

for (const program of PROGRAMS) {
  test(`${program} asks in every kind of folder without trust, and in none once \`pretrust\` has written it`, async () => {
    const places = makePlaces(program);
    const agents = Object.keys(places).map((identity) => ({ identity, program }));
    for (const agent of agents) net.declareUnknown(agent, places[agent.identity]);
    expect(await net.once()).toMatchObject({ code: 0, summary: `launched ${agents.length}` });
    expect(await net.untilShown(agents)).toEqual(all(agents, "question"));

    const byFolder = Object.values(Object.groupBy(Object.values(places), ({ config }) => config ?? ""));
    for (const some of byFolder) {
      const config = some?.[0]?.config ?? null;
      const words = ["--harness", program, ...(config === null ? [] : ["--config-dir", config])];
      const folders = (some ?? []).map(({ workspace }) => workspace);
      expect(await net.convoy(["pretrust", ...folders, ...words])).toMatchObject({ code: 0, stderr: "" });
    }
    expect(writtenTrust(program, Object.values(places))).toEqual(
      expectedTrust(program, Object.values(places)),
    );
    const restarts = await Promise.all(agents.map(({ identity }) => net.convoy(["restart", identity])));
    expect(restarts.map(({ code }) => code)).toEqual(agents.map(() => 0));
    expect(await net.untilShown(agents)).toEqual(all(agents, "prompt"));
  });

  test(`${program} asks in no kind of folder that \`up\` starts it in`, async () => {
    const places = makePlaces(program);
    const agents = Object.keys(places).map((identity) => ({ identity, program }));
    // As those have it who keep such files among others of their own.
    const config = program === "claude" ? net.claudeConfig : net.codexConfig;
    net.folder("dotfiles");
    renameSync(config, join(net.home, "dotfiles/config"));
    symlinkSync(join(net.home, "dotfiles/config"), config);
    for (const agent of agents) net.declareHarness(agent, places[agent.identity]);
    expect(await net.once()).toMatchObject({ code: 0, summary: `launched ${agents.length}` });
    expect(await net.untilShown(agents)).toEqual(all(agents, "prompt"));
    expect(writtenTrust(program, Object.values(places))).toEqual(
      expectedTrust(program, Object.values(places)),
    );
    expect(lstatSync(config).isSymbolicLink()).toBe(true);
  });
}

test("codex asks for no trust outside a repository", async () => {
  const agent: HarnessAgent = { identity: "outside", program: "codex" };
  net.declareUnknown(agent, { workspace: net.folder("outside") });
  await net.once();
  expect(await net.untilShown([agent])).toEqual({ outside: "prompt" });
});

test("a linked worktree's own rules count for claude, since its main checkout is trusted too", async () => {
  const rules = JSON.stringify({ permissions: { allow: ["Bash(ls:*)"] } });
  const agents = ["alone", "both"].map((identity): HarnessAgent => ({ identity, program: "claude" }));
  const workspaces = agents.map(({ identity }) => {
    const main = repository(`${identity}-main`);
    git(main, "worktree", "add", "-q", `../${identity}`);
    net.put(`${identity}/.claude/settings.json`, rules);
    return join(main, `../${identity}`);
  });
  const [alone = "", both = ""] = workspaces;
  net.put(
    ".claude.json",
    JSON.stringify({
      hasCompletedOnboarding: true,
      projects: { [alone]: { hasTrustDialogAccepted: true } },
    }),
  );
  net.declareUnknown(agents[0]!, { workspace: alone });
  net.declareHarness(agents[1]!, { workspace: both });
  expect((await net.once()).code).toBe(0);
  expect(await net.untilShown(agents)).toEqual({ alone: "prompt", both: "prompt" });
  const ignored = await Promise.all(
    agents.map(async ({ identity }) => /Ignoring 1 permissions\.allow entry/.test(await net.full(identity))),
  );
  expect(ignored).toEqual([true, false]);
});

/** Eight Claude Codes at once, which all write the one config, and convoy that writes it beside them. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ConfigHistory } from "./config-history.ts";
import { type HarnessAgent, HarnessNet, PATIENCE_MS, trustedIn } from "./kit.ts";

setDefaultTimeout(2 * PATIENCE_MS);

const ROUNDS = 10;
const AGENTS = Array.from({ length: 8 }, (_, n): HarnessAgent => ({ identity: `w${n}`, program: "claude" }));
/** Twenty folders, two by each command, in lanes that go on beside each other. */
const LANES = 2;
const FOLDERS_PER_LANE = 10;

/** What others keep in that file, and nobody here changes. */
const FOREIGN = {
  hasCompletedOnboarding: true,
  "10": { b: 1, a: [1, 2.5, "ü", null] },
  mcpServers: { notes: { command: "notes", args: ["--all"], env: { TOKEN: "t" } } },
  projects: { "/elsewhere": { allowedTools: ["Bash"], hasTrustDialogAccepted: false, "1": "x" } },
};

let net: HarnessNet;
beforeEach(() => {
  net = new HarnessNet();
  net.put(".claude.json", JSON.stringify(FOREIGN, null, 2));
});
afterEach(() => net.remove());

/** What was seen over all rounds: a version can be told from the one before it where both were caught. */
const seen = { rounds: 0, versions: 0, told: 0, byConvoy: 0, undone: 0 };
/** What was gone in a version of convoy's that the one before it had. */
const losses: string[] = [];

function lookAt(history: ConfigHistory, harnesses: ReadonlySet<number>): void {
  const versions = history.end();
  seen.rounds += 1;
  seen.versions += versions.length;
  for (const [index, version] of versions.entries()) {
    // Every version is a whole document, whoever wrote it.
    const paths = pathsOf(JSON.parse(version?.text ?? "null"));
    const before = versions[index - 1] ?? null;
    if (before === null || version === null) continue;
    seen.told += 1;
    if (harnesses.has(version.pid)) {
      const kept = trustedIn(version.text);
      seen.undone += trustedIn(before.text).filter((path) => !kept.includes(path)).length;
      continue;
    }
    seen.byConvoy += 1;
    const gone = [...pathsOf(JSON.parse(before.text))].filter((path) => !paths.has(path));
    if (gone.length > 0) losses.push(gone.join(", "));
  }
}

/** Every member of a document at any depth, by its names and the value of what holds no more members. */
function pathsOf(value: unknown, path = ""): Set<string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return new Set([`${path}=${JSON.stringify(value)}`]);
  }
  const members = Object.entries(value).flatMap(([name, member]) => [...pathsOf(member, `${path}/${name}`)]);
  return new Set([path, ...members]);
}

async function pretrustLane(folders: readonly string[]): Promise<number[]> {
  const codes: number[] = [];
  for (let at = 0; at < folders.length; at += 2) {
    codes.push((await net.convoy(["pretrust", ...folders.slice(at, at + 2)])).code);
  }
  return codes;
}

for (let round = 1; round <= ROUNDS; round += 1) {
  test(`eight at once ask nothing and undo nobody's trust, and nothing that another wrote is lost: round ${round}`, async () => {
    for (const agent of AGENTS) net.declareHarness(agent);
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      Array.from({ length: FOLDERS_PER_LANE }, (_, n) => net.folder(`more/${lane}-${n}`)),
    );
    const history = new ConfigHistory(net.claudeConfig);
    expect(await net.once()).toMatchObject({ code: 0, summary: "launched 8" });
    const pids = AGENTS.map(({ identity }) => net.pid(identity) ?? 0);
    const [codes, shown] = await Promise.all([Promise.all(lanes.map(pretrustLane)), net.untilShown(AGENTS)]);
    expect(shown).toEqual(Object.fromEntries(AGENTS.map(({ identity }) => [identity, "prompt"])));
    expect([...new Set(codes.flat())]).toEqual([0]);
    const trusted = [...AGENTS.map(({ identity }) => net.folder(`n/worktrees/${identity}`)), ...lanes.flat()];
    expect(net.trusted().sort()).toEqual(trusted.sort());

    // Each writes once more as it ends.
    expect((await net.convoy(["down"])).code).toBe(0);
    lookAt(history, new Set(pids));
    const after = JSON.parse(readFileSync(net.claudeConfig, "utf8"));
    expect(net.trusted().sort()).toEqual(trusted.sort());
    expect(after).toMatchObject(FOREIGN);
    expect(after.numStartups).toBeWithin(1, AGENTS.length + 1);
  });
}

test("over all rounds, what convoy wrote kept every member that it found", () => {
  const { rounds, versions, told, byConvoy, undone } = seen;
  console.info(
    `${rounds} rounds: of ${versions} versions of the config ${told} were caught with the one before them. Of these convoy wrote ${byConvoy}, and in ${losses.length} of its own something was gone; harnesses undid ${undone} entries of trust, all written again.`,
  );
  expect(byConvoy).toBeGreaterThan(rounds);
  // Some microseconds lie between convoy's last look and its rename (docs/decisions/0050-trust-is-looked-at-again.md).
  expect(losses.slice(1)).toEqual([]);
});

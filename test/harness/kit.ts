/** Networks whose agents are Claude Code and Codex themselves: no account, no request that leaves this machine. */
import { appendFileSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { formatHarnessLine } from "../../src/harness.ts";
import { connectSession } from "../../src/session-host/client.ts";
import { sessionPaths } from "../../src/system/paths.ts";
import { HOST, Net, until } from "../e2e/kit.ts";

export type Program = "claude" | "codex";
export const PROGRAMS: readonly Program[] = ["claude", "codex"];

/** Longest wait for a harness: many of them may start at once, on few processors. */
export const PATIENCE_MS = 180_000;
const LOOK_MS = 500;

/** Where `scripts/harnesses.sh` has put both programs. */
const HARNESSES = process.env.CONVOY_TEST_HARNESSES ?? "";
if (HARNESSES === "") throw new Error("run these tests by ./scripts/test-harness: it installs the harnesses");

/** What a person without an account would have set; nobody listens on port 9. */
const PLACEHOLDERS = {
  LANG: "C.UTF-8",
  ANTHROPIC_AUTH_TOKEN: "placeholder",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
  CLAUDE_CODE_MAX_RETRIES: "0",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_TELEMETRY: "1",
};

/** As root Claude Code refuses to work without questions, unless it is told that this machine is a sandbox. */
export const AGENT_ENV: Readonly<Record<string, string>> =
  process.getuid?.() === 0 ? { IS_SANDBOX: "1" } : {};

/** First-run screens that are no matter of trust, answered as a person answers them once. */
const ONBOARDED = { hasCompletedOnboarding: true };
const CLAUDE_SETTINGS = { skipDangerousModePermissionPrompt: true };
/** Without the last two lines each Codex would use a server in the background, shared with the others. */
const CODEX_CONFIG = `model_provider = "local"

[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:9/v1"

[features]
daemon_auto_start = false
`;

/** What tells on a screen of 80 columns that the program asks, and that it has taken its first prompt. */
const QUESTION: Readonly<Record<Program, RegExp>> = {
  claude: /Accessing workspace:/,
  codex: /Trust this folder\?/,
};
const PROMPT: Readonly<Record<Program, RegExp>> = {
  claude: /bypass permissions on/,
  codex: /permissions: YOLO mode/,
};

export type Shown = "question" | "prompt";

export interface HarnessAgent {
  readonly identity: string;
  readonly program: Program;
}

export interface HarnessPlace {
  /** The folder it works in; the network's own for it when absent. */
  readonly workspace?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What is on a screen, or is not on it yet. */
export function shownOn(screen: string, program: Program): Shown | null {
  if (QUESTION[program].test(screen)) return "question";
  return PROMPT[program].test(screen) ? "prompt" : null;
}

/** A line that stands above the count of `./scripts/test-harness`. */
export function note(line: string): void {
  const path = process.env.CONVOY_TEST_NOTES;
  if (path !== undefined) appendFileSync(path, `${line}\n`);
}

export class HarnessNet extends Net {
  readonly claudeConfig = join(this.home, ".claude.json");
  readonly codexConfig = join(this.home, ".codex/config.toml");

  constructor() {
    super();
    for (const program of PROGRAMS) symlinkSync(join(HARNESSES, program), join(this.bin, program));
    this.put(".claude.json", JSON.stringify(ONBOARDED));
    this.put(".claude/settings.json", JSON.stringify(CLAUDE_SETTINGS));
    this.put(".codex/config.toml", CODEX_CONFIG);
  }

  override env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return super.env({ ...PLACEHOLDERS, ...more });
  }

  /** Writes a file below the home; answers its real path. */
  put(path: string, text: string): string {
    const full = join(this.home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return realpathSync(full);
  }

  folder(path: string): string {
    const full = join(this.home, path);
    mkdirSync(full, { recursive: true });
    return realpathSync(full);
  }

  /** A configuration folder of its own for either program; answers its path. */
  configFolder(path: string, program: Program, file = ".claude.json"): string {
    if (program === "codex") return dirname(this.put(`${path}/config.toml`, CODEX_CONFIG));
    this.put(`${path}/settings.json`, JSON.stringify(CLAUDE_SETTINGS));
    return dirname(this.put(`${path}/${file}`, JSON.stringify(ONBOARDED)));
  }

  /** Declares the program as convoy starts it by itself, trust included. */
  declareHarness({ identity, program }: HarnessAgent, place: HarnessPlace = {}): void {
    this.declare(identity, {
      command: null,
      lines: [`harness = "${program}"`, ...workspaceLine(place)],
      tables: envTable(place),
    });
  }

  /**
   * Declares the same command line where convoy does not know the harness: trust follows the declared one, and pi has
   * no question.
   */
  declareUnknown({ identity, program }: HarnessAgent, place: HarnessPlace = {}): void {
    const line = formatHarnessLine({
      harness: program,
      bin: null,
      model: null,
      prompt: "Read your inbox and carry on.",
    });
    this.declare(identity, {
      command: `exec ${line}`,
      lines: ['harness = "pi"', ...workspaceLine(place)],
      tables: envTable(place),
    });
  }

  async screen(identity: string): Promise<string> {
    return (await this.convoy(["peek", identity])).stdout;
  }

  /** The same without a process for each look; empty while there is no session to ask. */
  async glance(identity: string): Promise<string> {
    const connected = await connectSession(sessionPaths(this.pty, `${HOST}.${identity}`).socket);
    if (!connected.ok) return "";
    const answer = await connected.session.peek({ plain: true });
    connected.session.close();
    return answer.ok ? Buffer.from(answer.screen).toString() : "";
  }

  /** With what has scrolled away. */
  async full(identity: string): Promise<string> {
    return (await this.convoy(["peek", identity, "--full"])).stdout;
  }

  /** What each agent's screen shows, once every one asks or has taken its prompt. */
  async untilShown(agents: readonly HarnessAgent[]): Promise<Record<string, Shown>> {
    const shown: Record<string, Shown> = {};
    const last: Record<string, string> = {};
    await until(
      "every harness to ask or to take its prompt",
      async () => {
        await Bun.sleep(LOOK_MS);
        for (const { identity, program } of agents) {
          if (shown[identity] !== undefined) continue;
          last[identity] = await this.glance(identity);
          if (shownOn(last[identity], program) === null) continue;
          last[identity] = await this.screen(identity);
          const found = shownOn(last[identity], program);
          if (found !== null) shown[identity] = found;
        }
        return Object.keys(shown).length === agents.length;
      },
      () =>
        Object.entries(last)
          .filter(([identity]) => shown[identity] === undefined)
          .map(([identity, screen]) => `${identity}:\n${screen}`)
          .join("\n"),
      PATIENCE_MS,
    );
    return shown;
  }

  /** The folders that Claude Code's config says are trusted, in its order. */
  trusted(config = this.claudeConfig): string[] {
    return trustedIn(readFileSync(config, "utf8"));
  }
}

export function trustedIn(claudeConfig: string): string[] {
  const { projects = {} } = JSON.parse(claudeConfig) as {
    projects?: Record<string, { hasTrustDialogAccepted?: boolean }>;
  };
  return Object.keys(projects).filter((path) => projects[path]?.hasTrustDialogAccepted === true);
}

function workspaceLine({ workspace }: HarnessPlace): string[] {
  return workspace === undefined ? [] : [`workspace = ${JSON.stringify(workspace)}`];
}

function envTable({ env = {} }: HarnessPlace): string[] {
  const all = { ...AGENT_ENV, ...env };
  return ["[env]", ...Object.entries(all).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)];
}

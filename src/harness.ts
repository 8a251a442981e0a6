/**
 * The agent programs that convoy knows how to start: one record each. Command lines, trust files and their variables
 * are facts about those programs (formats §5, §8); adding a harness is adding a record and its name.
 */
import type { HarnessName } from "./declaration.ts";

/** Where a harness keeps which folders it trusts. */
export interface TrustFile {
  readonly format: "claude" | "codex";
  /** Environment variable that names another configuration folder. */
  readonly variable: string;
  /** File inside the folder that `variable` names. */
  readonly relocated: string;
  /** File when the variable is not set, relative to the home folder. */
  readonly home: string;
  /** Folder in the home folder whose presence shows that the harness is in use. */
  readonly homeFolder: string;
}

export interface Harness {
  readonly binary: string;
  /** Flags with which it never stops to ask for permission. */
  readonly flags: readonly string[];
  /** Flag before the prompt; null where the prompt is the positional argument. */
  readonly promptFlag: string | null;
  /** It reads its messages from the bus by itself; without, a notification sidecar runs beside it. */
  readonly busIntegration: boolean;
  /** Null where no file of trusted folders is known. */
  readonly trust: TrustFile | null;
}

export const HARNESSES: Readonly<Record<HarnessName, Harness>> = {
  claude: {
    binary: "claude",
    flags: ["--permission-mode", "bypassPermissions"],
    promptFlag: null,
    busIntegration: true,
    trust: {
      format: "claude",
      variable: "CLAUDE_CONFIG_DIR",
      relocated: ".claude.json",
      home: ".claude.json",
      homeFolder: ".claude",
    },
  },
  codex: {
    binary: "codex",
    flags: ["--dangerously-bypass-approvals-and-sandbox"],
    promptFlag: null,
    busIntegration: false,
    trust: {
      format: "codex",
      variable: "CODEX_HOME",
      relocated: "config.toml",
      home: ".codex/config.toml",
      homeFolder: ".codex",
    },
  },
  opencode: {
    binary: "opencode",
    flags: ["--auto"],
    promptFlag: "--prompt",
    busIntegration: false,
    trust: null,
  },
  pi: { binary: "pi", flags: ["--approve"], promptFlag: null, busIntegration: false, trust: null },
};

export interface HarnessCall {
  readonly harness: HarnessName;
  /** Replaces the harness's own binary; the flags stay. Must need no quoting (the declaration's grammar sees to it). */
  readonly bin: string | null;
  /** Must need no quoting either. */
  readonly model: string | null;
  readonly prompt: string;
}

/** The shell words that start a harness with a first instruction. */
export function formatHarnessLine({ harness, bin, model, prompt }: HarnessCall): string {
  const { binary, flags, promptFlag } = HARNESSES[harness];
  const words = [bin ?? binary, ...flags];
  if (model !== null) words.push("--model", model);
  if (promptFlag !== null) words.push(promptFlag);
  return [...words, quoteForShell(prompt)].join(" ");
}

/** One POSIX shell word, single-quoted. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

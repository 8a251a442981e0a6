/**
 * The environment of an agent (docs/decisions: environment): the network's wiring, over its declaration's `env`, over a
 * base taken at the first launch. The base is what was inherited, without what says who started convoy.
 */
import type { SessionSpec } from "./ledger.ts";

export type Environment = Readonly<Record<string, string>>;

interface Rule {
  /** Whole names; one that ends in `*` is a prefix. */
  readonly names: readonly string[];
  readonly why: string;
}

/** What is inherited and never reaches an agent. A declaration may set any of them. */
export const SCRUBBED: readonly Rule[] = [
  { names: ["CONVOY_*", "PTY_*", "ST_ROOT", "ST_AGENT"], why: "another session's wiring and identity" },
  {
    names: [
      "CLAUDECODE",
      "CLAUDE_CODE_ENTRYPOINT",
      "CLAUDE_CODE_SSE_PORT",
      "CLAUDE_CODE_SESSION_ID",
      "CLAUDE_CODE_EXECPATH",
      "CLAUDE_CODE_CHILD_SESSION",
      "CLAUDE_AGENT_SDK_VERSION",
      "CLAUDE_ENV_FILE",
      "CLAUDE_PROJECT_DIR",
      "CODEX_SANDBOX*",
      "CODEX_THREAD_ID",
      "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
      "OPENCODE",
      "OPENCODE_PID",
      "AI_AGENT",
    ],
    why: "an agent started convoy: its children would take themselves for nested",
  },
  {
    names: ["TMUX*", "STY", "WINDOW", "ZELLIJ*", "INSIDE_EMACS", "VSCODE_*", "VIM", "VIMRUNTIME", "NVIM*"],
    why: "a multiplexer or editor around convoy's terminal",
  },
  {
    names: [
      "TERM",
      "TERMCAP",
      "TERMINFO",
      "COLORTERM",
      "COLORFGBG",
      "TERM_PROGRAM*",
      "TERM_SESSION_ID",
      "TERMINAL_EMULATOR",
      "LC_TERMINAL*",
      "ITERM_*",
      "KITTY_*",
      "WEZTERM_*",
      "ALACRITTY_*",
      "GHOSTTY_*",
      "KONSOLE_*",
      "VTE_VERSION",
      "WT_SESSION",
      "WT_PROFILE_ID",
      "WINDOWID",
    ],
    why: "the terminal convoy was typed in; a session's own is another",
  },
  { names: ["GPG_TTY", "SSH_TTY", "SSH_CLIENT", "SSH_CONNECTION"], why: "the login convoy was typed in" },
  { names: ["COLUMNS", "LINES"], why: "the size of that terminal" },
  { names: ["NO_COLOR", "FORCE_COLOR", "CLICOLOR*"], why: "how convoy's own output was to look" },
  { names: ["PWD", "OLDPWD", "SHLVL", "_"], why: "the shell's own bookkeeping" },
  { names: ["BUN_*", "NODE_CHANNEL_*"], why: "settings for the runtime inside convoy" },
  {
    names: [
      "npm_lifecycle_*",
      "npm_package_*",
      "npm_command",
      "npm_execpath",
      "npm_node_execpath",
      "INIT_CWD",
    ],
    why: "a package script started convoy",
  },
  {
    names: [
      "INVOCATION_ID",
      "JOURNAL_STREAM",
      "NOTIFY_SOCKET",
      "LISTEN_*",
      "WATCHDOG_*",
      "MAINPID",
      "MANAGERPID*",
      "SYSTEMD_EXEC_PID",
      "MEMORY_PRESSURE_*",
      "XPC_*",
    ],
    why: "a service manager started convoy",
  },
];

/** The table as one expression: every variable of every agent is put to it. The names need no escaping. */
const SCRUBBED_NAME = new RegExp(
  SCRUBBED.flatMap((rule) => rule.names)
    .map((name) => (name.endsWith("*") ? `^${name.slice(0, -1)}` : `^${name}$`))
    .join("|"),
);

/** Whether an inherited variable of this name is kept from agents. */
export function isScrubbed(name: string): boolean {
  return SCRUBBED_NAME.test(name);
}

/** What stands in where nothing was inherited (`env -i`, a service manager). */
export interface Login {
  readonly home: string;
  readonly user: string | null;
  readonly shell: string | null;
  /** Search path of a bare system. */
  readonly path: string;
  /** A UTF-8 locale that this machine has. */
  readonly lang: string;
}

/** Search path of a bare system, where neither the environment nor the machine names one. */
export const BARE_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The base environment of a first launch: `inherited` without what is scrubbed, with what a login would have. */
export function baseEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  login: Login,
): Record<string, string> {
  const base = scrub(inherited);
  setMissing(base, "HOME", login.home);
  setMissing(base, "PATH", login.path);
  setMissing(base, "SHELL", login.shell);
  setMissing(base, "USER", login.user);
  setMissing(base, "LOGNAME", base.USER ?? null);
  if (!base.LC_ALL && !base.LC_CTYPE) setMissing(base, "LANG", login.lang);
  return base;
}

/**
 * What the child of one session gets, whole. `base` is `baseEnvironment`'s, kept in the ledger; `spec.env` has the declared variables with the
 * network's wiring over them.
 */
export function agentEnvironment(
  base: Environment,
  spec: Pick<SessionSpec, "name" | "agent" | "env">,
): Record<string, string> {
  return {
    TERM: "xterm-256color",
    ...base,
    ...spec.env,
    PTY_SESSION: spec.name,
    ST_AGENT: spec.agent,
  };
}

/** The search path on which a program of this environment is looked up. */
export function lookupPath(environment: Environment): string {
  return environment.PATH || BARE_PATH;
}

function scrub(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !isScrubbed(name)) kept[name] = value;
  }
  return kept;
}

/** An empty value is as good as none for these. */
function setMissing(environment: Record<string, string>, name: string, value: string | null): void {
  if (!environment[name] && value !== null) environment[name] = value;
}

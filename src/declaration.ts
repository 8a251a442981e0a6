/** What one declaration file says: the published agent-spec object, after validation. */

export const ROLES = ["chief-of-staff", "supervisor", "worker", "technical-manager"] as const;
export type Role = (typeof ROLES)[number];
export const HARNESS_NAMES = ["claude", "codex", "opencode", "pi"] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];
export const STRATEGIES = ["permanent", "batch"] as const;
export type Strategy = (typeof STRATEGIES)[number];
export const TRANSPORTS = ["ding", "mcp"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** One explicit `[pty.<name>]` task. */
export interface Task {
  readonly name: string;
  readonly command: string;
  readonly id: string | null;
  readonly cwd: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly keep: boolean | null;
}

export interface RenderFile {
  readonly dest: string;
  readonly from: string;
  readonly mode: string | null;
}

export interface RenderDir {
  readonly dest: string;
  readonly from: string;
}

export interface Declaration {
  readonly identity: string;
  readonly role: Role;
  /** Identity of the agent it reports to. */
  readonly supervisor: string | null;
  /** Short and lower case; from the file, else from its directory; null means the machine that reads it. */
  readonly host: string | null;
  /** As written: `~`, `$HOME` and relative paths are resolved by the launch spec. */
  readonly workspace: string | null;
  readonly harness: HarnessName;
  readonly bin: string | null;
  readonly model: string | null;
  readonly transport: Transport;
  readonly persona: string | null;
  readonly strategy: Strategy;
  readonly retired: boolean;
  readonly prefix: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly render: { readonly file: readonly RenderFile[]; readonly dir: readonly RenderDir[] };
  /** Explicit tasks in document order; empty when the agent's sessions are derived. */
  readonly tasks: readonly Task[];
}

/** A declaration and the file it came from, relative to the catalog, with `/` between its parts. */
export interface CatalogEntry {
  readonly declaration: Declaration;
  readonly path: string;
}

/** Something wrong with a file. `line` counts from 1; null when no line can be named. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** Relative to the catalog. */
  readonly path: string;
  readonly line: number | null;
  readonly message: string;
}

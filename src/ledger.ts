/**
 * The ledger: what convoy itself knows of a session, kept in `<net>/pty/.convoy/sessions/<name>.json`,
 * where pty's own program removes nothing. Format: docs/disk-layout.md.
 */
import type { Declaration } from "./declaration.ts";
import type { ProcessIdentity } from "./session.ts";

export const LEDGER_VERSION = 1;
export const HOST_PROTOCOL = 1;

/** Why convoy ended a session on purpose. */
export type EndedBy = "down" | "restart" | "retire";

/** How a run ended. `exitCode` is null when nobody saw it (vanished) or it never started (`error`). */
export interface RunEnd {
  readonly exitCode: number | null;
  /** ISO 8601, UTC, milliseconds. Null when nobody saw it. */
  readonly exitedAt: string | null;
  readonly lastLines: readonly string[];
  /** Why the run never started; null when it did. */
  readonly error: string | null;
}

/** Everything that a session host needs to start one task; the compiled form of a declaration's task. */
export interface SessionSpec {
  /** Session id: the registry name. */
  readonly name: string;
  /** Bus id of the agent it belongs to. */
  readonly agent: string;
  readonly identity: string;
  /** `agent` for a derived main task, `ding` for the sidecar, else the name of `[pty.<name>]`. */
  readonly task: string;
  /** The main task decides whether the agent is alive. */
  readonly main: boolean;
  readonly command: string;
  readonly args: readonly string[];
  readonly displayCommand: string;
  /** Absolute. */
  readonly cwd: string;
  /** Declared `env` with the network's wiring over it; goes over the base environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Tags at launch, without accounting. */
  readonly tags: Readonly<Record<string, string>>;
  /** What must be found on the agent's own PATH before a launch; null for an explicit command. */
  readonly binary: string | null;
}

/** The last good declaration of an agent, as the catalog gave it. */
export interface LedgerDeclaration {
  /** Relative to the catalog. */
  readonly path: string;
  /** Whether the file itself named `host` (losing it later is a problem, not a move). */
  readonly hostWritten: boolean;
  readonly declaration: Declaration;
}

export interface Ledger {
  readonly v: number;
  /** Bus id. */
  readonly agent: string;
  readonly identity: string;
  readonly task: string;
  readonly host: ProcessIdentity | null;
  readonly child: ProcessIdentity | null;
  /** The socket file that its host has bound, as `fileIdentity` has it; null before that. */
  readonly socket: string | null;
  /** Boot id under which `host` and `child` were started. */
  readonly boot: string;
  /** Version of the convoy that launched it, and of the protocol its host speaks. */
  readonly version: string;
  readonly protocol: number;
  /** One launch's own mark; a host writes only into the ledger of its own launch. */
  readonly launchId: string;
  /** ISO 8601: when the launch was written down. */
  readonly launchedAt: string;
  /** Last good declaration, kept up to date by every pass that writes. */
  readonly declaration: LedgerDeclaration | null;
  /** What was launched. */
  readonly spec: SessionSpec;
  /** The environment under everything else, taken at the first launch. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** Tags as convoy last wrote them; they stand in for a record that is gone or torn. */
  readonly tags: Readonly<Record<string, string>>;
  /** ISO 8601: right before these tags were written; null when that is not known. */
  readonly tagsAt: string | null;
  readonly endedBy: EndedBy | null;
  /** Its session host was told to end by another program (TERM): `pty kill`, `pty restart`, a person's `kill`. */
  readonly terminated: boolean;
  /** Launches after the first. */
  readonly restarts: number;
  /** How the current run ended; null while it runs, or when nobody saw its end. */
  readonly end: RunEnd | null;
  /** The last five ends before the current run, newest first. */
  readonly previous: readonly RunEnd[];
  /** `launchId` of the run whose end has been reported. */
  readonly reportedEnd: string | null;
  /** The last launch failed outright: it is tried again by the timer, not put to the flapping cap again. */
  readonly failedLaunch: boolean;
}

/** Sessions as a pass sees them: what the registry, the ledger and the process table say together. */
import type { Ledger } from "./ledger.ts";
import type { TagsPatch } from "./lost-tags.ts";

/** A process is ours, provably not ours (or gone), or it cannot be told. */
export type Identification = "ours" | "not-ours" | "unknown";

export type SessionStatus = "running" | "exited" | "vanished";

/** A process by number and birth: a pid alone is no identity. `start` is opaque, equal for the same process only. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
}

/** pty's session record, `<name>.json`. Members that are not named here are kept as they are. */
export interface SessionRecord {
  command: string;
  args: string[];
  displayCommand: string;
  cwd: string;
  createdAt: string;
  rows?: number;
  cols?: number;
  env?: Record<string, string>;
  extraEnv?: Record<string, string>;
  unsetEnv?: string[];
  tags?: Record<string, string>;
  displayName?: string;
  exitCode?: number;
  exitedAt?: string;
  lastLines?: string[];
  lastAttachAt?: string;
  daemonPid?: number;
  generation?: string;
  state?: unknown;
  [member: string]: unknown;
}

export interface ObservedSession {
  readonly name: string;
  readonly status: SessionStatus;
  /** Host and child together: "not-ours" only when both are provably dead. */
  readonly process: Identification;
  /** `process !== "not-ours"`. */
  readonly processAlive: boolean;
  /** The session host's pid. */
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly exitedAt: string | null;
  /** The record's tags when it can be read, with `lostTags` in their place, else the ledger's. */
  readonly tags: Readonly<Record<string, string>>;
  /** What another writer has undone in the record without knowing of it: to be set and removed there again. */
  readonly lostTags?: TagsPatch;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly createdAt?: string | null;
  /** Each process by itself. A session without a ledger has no known child: "unknown" while its host lives. */
  readonly host?: Identification;
  readonly child?: Identification;
  readonly childPid?: number | null;
  /** The ledger's host is gone while the agent it started still runs. */
  readonly orphaned?: boolean;
  /** A launch has been written down and its host has not reported the agent's process yet. */
  readonly starting?: boolean;
  /** Its session host is another program's: pty started it, or started it again. */
  readonly outside?: boolean;
  readonly ledger?: Ledger | null;
  readonly record?: SessionRecord | null;
  /** Bus id, by formats §4's order, without the first step (names that declarations compile to). */
  readonly agent?: string | null;
  /** Registry files that a living session has lost or that are torn. */
  readonly missing?: readonly ("record" | "socket" | "pid")[];
}

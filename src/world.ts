/** The world as one pass reads it, and what the pass decides: the data between observe, decide, act and settle. */
import type { Problem } from "./declaration.ts";
import type { AgentInForce, InForce } from "./in-force.ts";
import type { Ledger, LedgerDeclaration, SessionSpec } from "./ledger.ts";
import type { Disposition } from "./reconcile.ts";
import type { ObservedSession } from "./session.ts";

/** What a launch would need and may not find. Absent for a session means that nothing is lacking. */
export interface Lacking {
  /** Absolute path of a workspace that is not there and that convoy does not create. */
  readonly workspace: string | null;
  /** A program that is not on the agent's own PATH. */
  readonly binary: { readonly name: string; readonly path: string } | null;
}

/** Why a pass runs: failed launches are tried again by the timer only. `up --once` counts as the timer. */
export type Trigger = "timer" | "event";

export interface World {
  readonly network: string;
  readonly host: string;
  readonly now: Date;
  readonly trigger: Trigger;
  readonly boot: string;
  readonly inForce: InForce;
  readonly sessions: readonly ObservedSession[];
  /** Bus id to hold. */
  readonly holds: Readonly<Record<string, { readonly at: string; readonly by: string }>>;
  /** By session id; looked up for sessions that are not alive. */
  readonly lacking: ReadonlyMap<string, Lacking>;
  readonly fastFailWindow?: number;
  readonly fastFailLimit?: number;
}

export type Blocked = "held" | "parked" | "waiting" | "conflict" | "unknown" | "done";

/** A row of `plan --json`: one declared agent. */
export interface PlanRow {
  readonly identity: string;
  readonly busId: string;
  readonly disposition: Disposition;
  readonly blocked: Blocked | null;
  readonly reason: string;
  /** Relative to the catalog. */
  readonly path: string;
}

/** One session to start. */
export interface LaunchAction {
  readonly kind: "launch" | "respawn" | "heal";
  /** Identity whose launch, when it is in this pass too, begins before this one. */
  readonly after: string | null;
  readonly identity: string;
  readonly busId: string;
  readonly spec: SessionSpec;
  readonly declaration: LedgerDeclaration;
  readonly reason: string;
  /** The session's tags after a successful start: kept ones, accounting, and the launch's own over both. */
  readonly tags: Readonly<Record<string, string>>;
  /** Tags before this launch's patch: what a failed launch is accounted on. */
  readonly tagsBefore: Readonly<Record<string, string>>;
  readonly fastFails: number;
  readonly limit: number;
  /** The run before this one: what is left of its process tree is ended first. */
  readonly remains: ObservedSession | null;
}

/** A session that has failed too often, to be marked as such. */
export interface ParkAction {
  readonly identity: string;
  readonly busId: string;
  readonly session: string;
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
  readonly counter: number;
  readonly limit: number;
  readonly windowSeconds: number;
}

export interface TeardownAction {
  readonly identity: string;
  readonly busId: string;
  readonly sessions: readonly ObservedSession[];
}

/** An end that nobody has been told of yet. */
export interface DeathNotice {
  readonly identity: string;
  readonly busId: string;
  readonly session: ObservedSession;
}

/** A ledger that says what is no longer so. */
export interface LedgerUpdate {
  readonly session: string;
  readonly change: Partial<Pick<Ledger, "declaration" | "endedBy">>;
}

/** One agent of this host (or another's), with what was found and what will be done. */
export interface AgentDecision {
  readonly agent: AgentInForce;
  readonly row: PlanRow;
  /** Every session that is this agent's. */
  readonly sessions: readonly ObservedSession[];
  /** The session that makes it alive, or the last that did. */
  readonly main: ObservedSession | null;
  /** What a waiting agent waits for. */
  readonly waitingFor: string | null;
}

export interface Decision {
  readonly agents: readonly AgentDecision[];
  readonly deaths: readonly DeathNotice[];
  readonly teardowns: readonly TeardownAction[];
  readonly parks: readonly ParkAction[];
  /** In launch order: supervisors before their reports, main tasks before the others. */
  readonly launches: readonly LaunchAction[];
  readonly nudges: readonly ObservedSession[];
  readonly updates: readonly LedgerUpdate[];
  /** Session ids of records in which another writer has undone a tag of convoy's. */
  readonly retags: readonly string[];
  readonly problems: readonly Problem[];
  /** Bus ids of agents that lack the sidecar's program. */
  readonly withoutSidecar: readonly string[];
}

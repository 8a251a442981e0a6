/** What a pass needs of the world, declared by its user; `cli/wiring.ts` hands the adapters in. */
import type { CatalogReading } from "../catalog-reading.ts";
import type { HarnessName } from "../declaration.ts";
import type { ConvoyEvent, TrustFileReport } from "../events.ts";
import type { Ledger } from "../ledger.ts";
import type { LaunchRequest } from "../next-ledger.ts";
import type { RenderReport, RenderRequest } from "../render.ts";
import type { ObservedSession } from "../session.ts";
import type { Clock } from "../system/clock.ts";
import type { NetworkPaths } from "../system/paths.ts";

export interface Hold {
  /** ISO 8601. */
  readonly at: string;
  /** Who held it, as text for a person: `down (pid 123)`. */
  readonly by: string;
}

/** What the registry folder and the ledger say, read once. */
export interface RegistryReading {
  readonly sessions: readonly ObservedSession[];
  /** Files that could not be read or understood, for a person; none of them proves a death. */
  readonly problems: readonly { readonly file: string; readonly message: string }[];
}

export interface CatalogPort {
  /** The line on which a declaration's identity is written; null when there is no telling. `path` as in a `Problem`. */
  locate(path: string): Promise<number | null>;
  /** Reads every declaration; waits for files that changed less than 250 ms ago (2 s at most). */
  read(): Promise<CatalogReading>;
}

export interface RegistryPort {
  read(): Promise<RegistryReading>;
  /** Those of the named sessions that have neither record nor ledger, and of which processes run all the same. */
  readUnlisted(names: readonly string[]): Promise<readonly ObservedSession[]>;
  readHolds(): Promise<Readonly<Record<string, Hold>>>;
  /** Read-change-write of the holds under their lock. */
  changeHolds(change: (holds: Record<string, Hold>) => void): Promise<void>;
  /** Read-change-write of one ledger; null from `change` leaves it as it is. */
  changeLedger(name: string, change: (ledger: Ledger | null) => Ledger | null): Promise<void>;
  /**
   * Sets and removes tags of one session, in the record (under its lock, every unknown member kept; a record that
   * is gone or torn is left to its host) and in the ledger. What another writer has undone is made again, too.
   */
  patchTags(name: string, set: Readonly<Record<string, string>>, remove: readonly string[]): Promise<void>;
}

/** What became of a launch: a subset of what `settle` accounts for. */
export type LaunchResult =
  | { readonly result: "started"; readonly pid: number; readonly hostPid: number }
  /** The host lives, its agent has not been reported within the time allowed. */
  | { readonly result: "starting"; readonly hostPid: number }
  | { readonly result: "failed"; readonly error: string }
  /** The last look, under the launch lock, found a reason not to. */
  | { readonly result: "refused"; readonly reason: "held" | "alive" | "unknown" };

export interface LauncherPort {
  /** Writes record and ledger, starts the host, waits until its agent runs or it failed. */
  launch(request: LaunchRequest): Promise<LaunchResult>;
  /** Asks a living host to put its registry files back. */
  nudge(session: ObservedSession): Promise<void>;
}

export interface EventSink {
  /** Says it: to the person or program on the other side of stdout, and to `.convoy/events.jsonl`. */
  emit(event: ConvoyEvent): void;
  /** One session's own log, `<name>.events.jsonl`. */
  appendToSession(name: string, event: { readonly type: string; readonly [member: string]: unknown }): void;
}

/** What is on this machine's disk, beside catalog and registry. */
export interface FactsPort {
  isDirectory(path: string): boolean;
  /** Creates a workspace under `worktrees/`; throws with the reason. */
  createWorkspace(path: string): void;
  /** Whether an executable of that name is found along `path` (as in PATH), or at that path itself. */
  isExecutable(name: string, path: string): boolean;
}

export interface TrustRequest {
  readonly harness: HarnessName;
  /** Absolute, as declared; the batch takes its real path. */
  readonly workspace: string;
  /** The environment the agent will really get. */
  readonly env: Readonly<Record<string, string>>;
}

export interface TrustPort {
  /** One locked, atomic write per file for all of them; problems are returned, never thrown. `dryRun` only looks. */
  pretrust(requests: readonly TrustRequest[], options: { dryRun: boolean }): Promise<TrustFileReport[]>;
}

export interface RenderPort {
  /** Writes what differs into a workspace that is there; problems are returned, never thrown. */
  render(request: RenderRequest): RenderReport;
}

export interface EndReport {
  readonly session: string;
  readonly pid: number | null;
  readonly result: "stopped" | "already-dead" | "survived" | "unknown";
  readonly survivors: readonly { readonly pid: number; readonly name: string }[];
}

/** The one function that signals agents. */
export interface EnderPort {
  end(sessions: readonly ObservedSession[], graceMs: number): Promise<EndReport[]>;
  /** Living processes that carry a session's marks or descend from its agent, by session id. */
  findLeftovers(
    sessions: readonly { name: string; session: ObservedSession | null }[],
  ): Promise<Map<string, number[]>>;
}

/** Standing connections to living hosts: the end of one is the death of its session, told at once. */
export interface DeathWatchPort {
  /** Watches exactly these sessions from now on; `onDeath` may be called at any time later. */
  watch(names: readonly string[], onDeath: (name: string) => void): void;
  close(): void;
}

/** Everything a pass uses. */
export interface PassPorts {
  readonly catalog: CatalogPort;
  readonly registry: RegistryPort;
  readonly launcher: LauncherPort;
  readonly events: EventSink;
  readonly facts: FactsPort;
  readonly trust: TrustPort;
  readonly render: RenderPort;
  readonly ender: EnderPort;
  readonly clock: Clock;
  /** Boot id of this machine. */
  readonly boot: string;
}

/** Settings of one `up`, the same for every pass. */
export interface PassSettings {
  readonly network: NetworkPaths;
  readonly host: string;
  readonly home: string;
  /** Convoy's own. */
  readonly version: string;
  /** The base environment a first launch takes. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly fastFailWindow?: number;
  readonly fastFailLimit?: number;
  readonly graceMs: number;
  /** Launches under way at once. */
  readonly parallel: number;
}

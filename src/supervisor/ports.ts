/** What a pass needs of the world, declared by its user; `cli/wiring.ts` hands the adapters in. */
import type { CatalogReading } from "../catalog-reading.ts";
import type { ConvoyEvent } from "../events.ts";
import type { Ledger, SessionSpec } from "../ledger.ts";
import type { ObservedSession } from "../session.ts";

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
  /** Reads every declaration; waits for files that changed less than 250 ms ago (2 s at most). */
  read(): Promise<CatalogReading>;
}

export interface RegistryPort {
  read(): Promise<RegistryReading>;
  readHolds(): Promise<Readonly<Record<string, Hold>>>;
  /** Read-change-write of the holds under their lock. */
  changeHolds(change: (holds: Record<string, Hold>) => void): Promise<void>;
  /** Read-change-write of one ledger; null from `change` leaves it as it is. */
  changeLedger(name: string, change: (ledger: Ledger | null) => Ledger | null): Promise<void>;
  /**
   * Sets and removes tags of one session, in the record (under its lock, every unknown member kept; a record that
   * is gone or torn is left to its host) and in the ledger.
   */
  patchTags(name: string, set: Readonly<Record<string, string>>, remove: readonly string[]): Promise<void>;
}

/** What became of a launch. */
export type LaunchResult =
  | { readonly result: "started"; readonly pid: number; readonly hostPid: number }
  /** The host lives, its agent has not been reported within the time allowed. */
  | { readonly result: "starting"; readonly hostPid: number }
  | { readonly result: "failed"; readonly error: string }
  /** The last look, under the launch lock, found a reason not to. */
  | { readonly result: "refused"; readonly reason: "held" | "alive" | "unknown" };

export interface LaunchRequest {
  readonly spec: SessionSpec;
  readonly declaration: Ledger["declaration"];
  /** Base environment of a first launch; an existing ledger's is kept unless `freshEnv`. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly freshEnv: boolean;
  /** Tags that the session has before the launch, with the accounting patch applied. */
  readonly tags: Readonly<Record<string, string>>;
}

export interface LauncherPort {
  /** Writes record and ledger, starts the host, waits until its agent runs or it failed. */
  launch(request: LaunchRequest): Promise<LaunchResult>;
  /** Asks a living host to put its registry files back. */
  nudge(session: ObservedSession): Promise<void>;
}

export interface EventSink {
  emit(event: ConvoyEvent): void;
}

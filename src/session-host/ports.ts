/** What a session host and its launcher need of the registry folder; implemented by `registry/`, handed in by wiring. */
import type { Ledger } from "../ledger.ts";
import type { SessionRecord } from "../session.ts";

export interface SessionFiles {
  /** Null when there is none; throws a `ConvoyError` when it cannot be read or is torn. */
  readLedger(name: string): Ledger | null;
  /** Read-change-write under the ledger's lock; null from `change` leaves the file as it is. */
  changeLedger(name: string, change: (ledger: Ledger | null) => Ledger | null): Promise<void>;
  /**
   * Read-change-write under the record's lock, re-read under it and checked after the rename. `change` gets null
   * when the record is gone or torn; null from `change` leaves the file as it is.
   */
  changeRecord(name: string, change: (record: SessionRecord | null) => SessionRecord | null): Promise<void>;
  /** Appends to `<name>.events.jsonl`; past 1000 lines it is rewritten with the newest 500. */
  appendEvent(name: string, event: { readonly type: string; readonly [member: string]: unknown }): void;
  /** Runs `body` under the lock that one launch, or one teardown's look, holds. */
  withLaunchLock<T>(name: string, body: () => Promise<T>): Promise<T>;
}

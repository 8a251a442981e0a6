/** Where a network's own files are. One function per place, nothing is created here. */
import { join } from "node:path";

export interface NetworkPaths {
  readonly root: string;
  readonly catalog: string;
  readonly smalltalk: string;
  readonly pty: string;
  readonly worktrees: string;
  /** Machine-local state that pty's program never looks at. */
  readonly state: string;
  readonly ledgers: string;
  readonly lockDatabase: string;
  readonly holder: string;
  readonly name: string;
  readonly holds: string;
  readonly events: string;
  readonly upLog: string;
}

/** The paths of the network at `root` (absolute). */
export function networkPaths(root: string): NetworkPaths {
  const pty = join(root, "pty");
  const state = join(pty, ".convoy");
  return {
    root,
    catalog: join(root, "catalog"),
    smalltalk: join(root, "smalltalk"),
    pty,
    worktrees: join(root, "worktrees"),
    state,
    ledgers: join(state, "sessions"),
    lockDatabase: join(state, "lock.db"),
    holder: join(state, "holder.json"),
    name: join(state, "name"),
    holds: join(state, "holds.json"),
    events: join(state, "events.jsonl"),
    upLog: join(state, "up.log"),
  };
}

/** The registry files of one session in the pty folder `registry`. */
export function sessionPaths(registry: string, name: string) {
  const base = join(registry, name);
  const ledger = join(registry, ".convoy", "sessions", name);
  return {
    record: `${base}.json`,
    events: `${base}.events.jsonl`,
    socket: `${base}.sock`,
    pid: `${base}.pid`,
    lock: `${base}.lock`,
    /** Around one appended event with its truncation; taken before `lock`, as pty 0.12 does. */
    eventsLock: `${base}.events.lock`,
    ledger: `${ledger}.json`,
    /** Around one read-change-write of the ledger. */
    ledgerLock: `${ledger}.json.lock`,
    /** Around one launch, or one teardown's look: pty's program never sees it. */
    launchLock: `${ledger}.launch.lock`,
    /** The host's life line, a named pipe. */
    lifeLine: `${ledger}.alive`,
  };
}

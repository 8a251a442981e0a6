/** Read-change-write of one record or one ledger, under its lock, with what is not understood kept. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ConvoyError, messageOf } from "../errors.ts";
import type { Ledger } from "../ledger.ts";
import { formatLedger } from "../ledger-codec.ts";
import { formatRecord } from "../record.ts";
import type { SessionRecord } from "../session.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { type Effect, effect } from "../system/effects.ts";
import { withLockFile } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { type FileReading, readLedgerFile, readRecordFile, readText } from "./files.ts";

/** A writer that takes no lock (pty 0.10's `tag`) may come between; each time the change is made anew, for so long. */
const ATTEMPTS_MS = 2_000;
const PAUSE_MS = 3;

/**
 * Changes the record of session `name` in the pty folder `registry`. `change` gets null when it is gone or torn and
 * may be called several times; null from it leaves the file as it is. Throws a `ConvoyError` when the lock stays
 * busy for 2 s, the file cannot be read or written, or another writer keeps undoing the change for as long.
 */
export async function changeRecord(
  registry: string,
  name: string,
  change: (record: SessionRecord | null) => SessionRecord | null,
): Promise<void> {
  const paths = sessionPaths(registry, name);
  await withLockFile(paths.lock, () =>
    rewrite(paths.record, "record-write", () => {
      const file = usableOrTorn(readRecordFile(paths.record), paths.record);
      // A copy: a change made in place must still differ from what was read.
      const next = change(structuredClone(file.parsed?.record ?? null));
      return next === null ? null : formatRecord(next, file.parsed);
    }),
  );
}

/** Changes the ledger of session `name`, as `changeRecord` does the record; the ledgers' folder is made when missing. */
export async function changeLedger(
  registry: string,
  name: string,
  change: (ledger: Ledger | null) => Ledger | null,
): Promise<void> {
  const paths = sessionPaths(registry, name);
  ensureFolder(dirname(paths.ledger));
  await withLockFile(paths.ledgerLock, () =>
    rewrite(paths.ledger, "ledger-write", () => {
      const file = usableOrTorn(readLedgerFile(paths.ledger), paths.ledger);
      const next = change(structuredClone(file.parsed?.ledger ?? null));
      return next === null ? null : formatLedger(next, file.parsed);
    }),
  );
}

/** The ledger; null when there is none. Throws a `ConvoyError` when it is torn or cannot be read. */
export function readLedger(registry: string, name: string): Ledger | null {
  const path = sessionPaths(registry, name).ledger;
  const file = readLedgerFile(path);
  if (file.state === "unusable") throw new ConvoyError("failed", `${path} ${file.problem}`);
  return file.parsed?.ledger ?? null;
}

/** Machine-local state is for this user alone. */
export function ensureFolder(path: string): void {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 });
    if (made !== undefined) effect("folder-create");
  } catch (error) {
    throw new ConvoyError("failed", `cannot create ${path}: ${messageOf(error)}`);
  }
}

/** Torn is as good as gone to one who writes it anew; what cannot be read at all must not be written over. */
function usableOrTorn<T>(file: FileReading<T>, path: string): FileReading<T> {
  if (file.unreadable) throw new ConvoyError("failed", `${path} ${file.problem}`);
  return file;
}

/**
 * Writes what `next` makes of the file until it stands: the file must not change between reading and renaming, and
 * must hold our text right after. `next` returning null ends it with nothing written.
 */
async function rewrite(path: string, name: Effect, next: () => string | null): Promise<void> {
  const deadline = performance.now() + ATTEMPTS_MS;
  do {
    const before = content(path);
    const text = next();
    if (text === null || text === before) return;
    if (write(path, text, before)) {
      effect(name);
      if (content(path) === text) return;
    }
    await systemClock.sleep(PAUSE_MS);
  } while (performance.now() < deadline);
  throw new ConvoyError("failed", `another program keeps writing over ${path}`, "try again");
}

function write(path: string, text: string, before: string | null): boolean {
  try {
    return writeFileAtomic(path, text, { stillWanted: () => content(path) === before });
  } catch (error) {
    throw new ConvoyError("failed", `cannot write ${path}: ${messageOf(error)}`);
  }
}

function content(path: string): string | null {
  const file = readText(path);
  if (file.state === "unreadable") throw new ConvoyError("failed", `${path} ${file.message}`);
  return file.state === "read" ? file.text : null;
}

/**
 * A ledger is a file, and a file can be wrong: before anything is signalled on the word of one, the process that it
 * names must itself show that it is the session's. One that shows nothing is "cannot tell": left alone, and named.
 */
import { isHostLine, markOf } from "../process-marks.ts";
import { hasMarkedChild, namesAnother } from "../process-tree.ts";
import type { Identification, ProcessIdentity } from "../session.ts";
import type { Clock } from "../system/clock.ts";
import { identify, type ProcessTable } from "../system/processes.ts";
import type { EndTarget } from "./end.ts";
import { type ProcessScan, realPath, scanProcesses } from "./process-scan.ts";

export interface Proof {
  host(target: EndTarget): Promise<Identification>;
  /** `host` is what was found about the target's host. */
  child(target: EndTarget, host: Identification): Identification;
}

/** A process that is just executing another program shows no environment: it is looked at again for this long. */
const LOOKS = 20;
const LOOK_MS = 10;

/** `never` holds the pids that are not signalled in any case: they need no proof, and are named as what they are. */
export function createProof(table: ProcessTable, clock: Clock, never: ReadonlySet<number>): Proof {
  let scan: ProcessScan | null = null;
  return {
    /** By its command line, or, for the host of another program, by the mark of its child. */
    async host(target) {
      const found = recognise(target.host, target, table);
      if (found !== "ours" || target.host === null || never.has(target.host.pid)) return found;
      if (isHostLine(table.commandLine(target.host.pid), target.session)) return found;
      const marked = { session: target.session, stRoot: realPath(target.stRoot) };
      for (let look = 0; look < LOOKS; look++) {
        scan ??= scanProcesses(table);
        if (hasMarkedChild(scan.index, target.host.pid, marked)) return found;
        if (scan.settled) break;
        await clock.sleep(LOOK_MS);
        scan = null;
      }
      return "unknown";
    },
    /** By its mark, or by its host. An environment that is empty or may not be read proves nothing against it. */
    child(target, host) {
      const found = recognise(target.child, target, table);
      if (found !== "ours" || target.child === null || never.has(target.child.pid)) return found;
      const environment = table.environment(target.child.pid);
      if (environment === null || environment.every((entry) => entry === "")) return found;
      const mark = markOf(environment);
      if (mark !== null) return isMarkedFor(mark, target) ? found : "unknown";
      const row = table.row(target.child.pid);
      const below = row !== null && row !== "hidden" && row.parent === target.host?.pid;
      return below && host === "ours" && !never.has(row.parent) ? found : "unknown";
    },
  };
}

function isMarkedFor(mark: { session: string; stRoot: string | null }, target: EndTarget): boolean {
  const stRoot = mark.stRoot === null ? null : realPath(mark.stRoot);
  return !namesAnother({ ...mark, stRoot }, { ...target, stRoot: realPath(target.stRoot) });
}

/** Whether the process that is recorded still is the one with its pid. */
export function recognise(
  recorded: ProcessIdentity | null,
  { boot }: EndTarget,
  table: ProcessTable,
): Identification {
  return recorded === null ? "not-ours" : identify(recorded, boot, table);
}

/** The teardown routine as a pass uses it: over observed sessions, with their processes as the ledger names them. */
import type { ObservedSession, ProcessIdentity } from "../session.ts";
import { identityOf, type ProcessTable } from "../system/processes.ts";
import { type EndPorts, type EndTarget, endSessions } from "./end.ts";
import type { EnderPort, EndReport } from "./ports.ts";
import { findLeftovers } from "./process-scan.ts";

export interface EnderOptions {
  /** `<net>/smalltalk`: with a session's name, the mark of its processes. */
  readonly stRoot: string;
  /** Never signalled: the network's supervisor, when that is another process. */
  readonly keepPids: () => readonly number[];
}

export function createEnder(options: EnderOptions, ports: EndPorts): EnderPort {
  const { stRoot, keepPids } = options;
  return {
    async end(sessions, graceMs): Promise<EndReport[]> {
      const targets = sessions.map((session) => targetOf(session, stRoot, ports.table));
      return await endSessions(targets, { graceMs, keepPids: keepPids() }, ports);
    },
    async findLeftovers(sessions) {
      const targets = sessions.map(({ name }) => ({ session: name, stRoot }));
      const found = findLeftovers(targets, { keepPids: keepPids() }, ports.table);
      const living = found.filter(({ processes }) => processes.length > 0);
      return new Map(living.map(({ session, processes }) => [session, processes.map(({ pid }) => pid)]));
    },
  };
}

/** A session of pty's own has no ledger: what was observed alive is taken as it is now. */
function targetOf(session: ObservedSession, stRoot: string, table: ProcessTable): EndTarget {
  const { name, ledger } = session;
  if (ledger != null)
    return { session: name, stRoot, host: ledger.host, child: ledger.child, boot: ledger.boot };
  const now = (pid: number | null | undefined): ProcessIdentity | null =>
    session.process === "ours" && pid != null ? identityOf(pid, table) : null;
  return { session: name, stRoot, host: now(session.pid), child: now(session.childPid), boot: table.boot() };
}

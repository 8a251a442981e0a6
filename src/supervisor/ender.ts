/** The port through which passes and commands end sessions: observed sessions in, the one routine behind it. */
import type { ObservedSession, ProcessIdentity } from "../session.ts";
import { identityOf, type ProcessTable } from "../system/processes.ts";
import { type EndPorts, type EndTarget, endSessions } from "./end.ts";
import type { EnderPort, EndReport } from "./ports.ts";
import { findLeftovers } from "./process-scan.ts";

export interface EnderSettings {
  /** `<net>/smalltalk`. */
  readonly stRoot: string;
  /** Processes that are never ended, asked for at each call: the supervisor that holds this network. */
  readonly keepPids: () => readonly number[];
}

/**
 * Ends observed sessions and finds what dead ones left. A session of which cannot be told whether it lives is
 * reported "unknown" and not touched.
 */
export function createEnder({ stRoot, keepPids }: EnderSettings, ports: EndPorts): EnderPort {
  return {
    async end(sessions, graceMs) {
      const known = sessions.filter((session) => session.process !== "unknown");
      const targets = known.map((session) => endTargetOf(session, stRoot, ports.table));
      const results = await endSessions(targets, { graceMs, keepPids: keepPids() }, ports);
      const reports = new Map<string, EndReport>(results.map((result) => [result.session, result]));
      return sessions.map((session) => reports.get(session.name) ?? unknownReport(session));
    },
    async findLeftovers(sessions) {
      const targets = sessions.map(({ name }) => ({ session: name, stRoot }));
      const found = findLeftovers(targets, { keepPids: keepPids() }, ports.table);
      return new Map(
        found
          .filter(({ processes }) => processes.length > 0)
          .map(({ session, processes }) => [session, processes.map((row) => row.pid)]),
      );
    },
  };
}

function unknownReport({ name, childPid }: ObservedSession): EndReport {
  return { session: name, pid: childPid ?? null, result: "unknown", survivors: [] };
}

/**
 * The processes of a session as `endSessions` needs them. What the observation found alive goes over the ledger,
 * which names an earlier run when another program has restarted the session since.
 */
export function endTargetOf(session: ObservedSession, stRoot: string, table: ProcessTable): EndTarget {
  const { name, ledger } = session;
  const boot = table.boot();
  const ofThisBoot = ledger !== null && ledger !== undefined && ledger.boot === boot;
  const recorded = (member: "host" | "child") => (ofThisBoot ? ledger[member] : null);
  const alive = (pid: number | null | undefined, from: ProcessIdentity | null) => {
    if (pid === null || pid === undefined || from?.pid === pid) return from;
    return identityOf(pid, table);
  };
  return {
    session: name,
    stRoot,
    host: session.host === "not-ours" ? recorded("host") : alive(session.pid, recorded("host")),
    child: session.child === "not-ours" ? recorded("child") : alive(session.childPid, recorded("child")),
    boot,
  };
}

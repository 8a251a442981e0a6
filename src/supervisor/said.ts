/** What one supervisor process has said already: output only, no decision depends on it. */
import type { PlanDocument, TrustFileReport } from "../events.ts";
import { describeNoneHere } from "../plan-document.ts";
import type { Decision, World } from "../world.ts";
import type { Say } from "./say.ts";

export interface Said {
  plan: string | null;
  /** What stands in the way of trust. */
  trust: string;
  /** `key` of everything that is said when it begins and again only after it has ended. */
  readonly standing: Set<string>;
  /** Session and host pid of those seen alive, or started here. */
  readonly adopted: Set<string>;
  /** The run of each session whose end was said last: a full disk cannot keep that it was. */
  readonly deaths: Map<string, string>;
}

export function nothingSaid(): Said {
  return { plan: null, trust: "[]", standing: new Set(), adopted: new Set(), deaths: new Map() };
}

/** Says what is new in this decision: problems, the plan, adoptions, holds, waits. */
export function sayDecision(
  plan: PlanDocument,
  world: World,
  decision: Decision,
  said: Said,
  say: Say,
): void {
  const standing = new Set<string>();
  const once = (key: string, tell: () => void) => {
    standing.add(key);
    if (!said.standing.has(key)) tell();
  };
  for (const { severity, path, line, message } of decision.problems)
    once(`${severity} ${path}:${line} ${message}`, () =>
      say({ type: severity === "error" ? "catalog_error" : "catalog_warning", path, line, message }),
    );
  const text = JSON.stringify(plan);
  if (text !== said.plan) say(plan);
  said.plan = text;
  const noneHere = describeNoneHere(plan);
  if (noneHere !== null) once(noneHere, () => say({ type: "warning", message: noneHere }));
  for (const { row, waitingFor } of decision.agents) {
    const { identity, busId } = row;
    const hold = world.holds[busId];
    if (row.blocked === "held" && hold !== undefined)
      once(`held ${busId} ${hold.at}`, () =>
        say({ type: "held", identity, busId, by: hold.by, at: hold.at }),
      );
    if (row.blocked === "waiting" && waitingFor !== null)
      once(`waiting ${busId} ${waitingFor}`, () =>
        say({ type: "waiting", identity, busId, for: waitingFor }),
      );
  }
  for (const busId of decision.withoutSidecar)
    once(`sidecar ${busId}`, () =>
      say({
        type: "warning",
        busId,
        message: `${busId} runs without its notification sidecar: st is not on its PATH`,
      }),
    );
  sayAdoptions(decision, said, say);
  said.standing.clear();
  for (const key of standing) said.standing.add(key);
}

/** Says what was written, and what stands in the way of trust when that is new. */
export function sayTrust(files: readonly TrustFileReport[], said: Said, say: Say): void {
  const inTheWay = JSON.stringify(
    files
      .filter((file) => file.problem !== null || file.refused.length > 0)
      .map(({ path, problem, refused }) => ({ path, problem, refused })),
  );
  const isNew = inTheWay !== said.trust && inTheWay !== "[]";
  said.trust = inTheWay;
  if (isNew || files.some((file) => file.written)) say({ type: "pretrust", files });
}

function sayAdoptions(decision: Decision, said: Said, say: Say): void {
  for (const { row, main } of decision.agents) {
    if (row.disposition !== "adopt" || row.blocked !== null || main === null) continue;
    // Another program is about to start it: said when there is something to adopt.
    if (main.outside === true && main.starting === true) continue;
    const key = runKey(main.name, main.pid);
    if (said.adopted.has(key)) continue;
    said.adopted.add(key);
    const { identity, busId } = row;
    const outside = main.outside === true ? { outside: true as const } : {};
    say({ type: "adopt", identity, busId, session: main.name, pid: main.childPid ?? null, ...outside });
  }
}

/** One run of a session, as `adopted` keeps it. */
export function runKey(session: string, hostPid: number | null): string {
  return `${session} ${hostPid ?? ""}`;
}

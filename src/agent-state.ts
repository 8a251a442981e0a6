/** Every agent and every session as `ls --json` shows them. Pure: a world and its decision in, rows out. */
import type { Problem } from "./declaration.ts";
import { FLAPPING, STATUS_TAG } from "./flapping-cap.ts";
import { shortHost } from "./identity.ts";
import { MAIN_TASK, SIDECAR_TASK } from "./launch-spec.ts";
import { hostOf, liveOf } from "./reconcile.ts";
import { groupSeenAgents, type SeenAgent } from "./seen-agents.ts";
import type { ObservedSession, SessionStatus } from "./session.ts";
import { runsOtherwise } from "./sessions-of.ts";
import type { Blocked, Decision, World } from "./world.ts";

/** What a session by itself is found to be. */
export type SessionState =
  | "running"
  | "starting"
  | "orphaned"
  | "unknown"
  | "exited"
  | "vanished"
  | "flapping";

export type AgentState = SessionState | "held" | "waiting" | "conflict" | "retired" | "elsewhere" | "done";

export interface SessionRow {
  readonly name: string;
  readonly task: string;
  /** Tag `role`. */
  readonly role: string | null;
  readonly state: SessionState;
  readonly pid: number | null;
  readonly hostPid: number | null;
  readonly startedAt: string | null;
  readonly exitCode: number | null;
}

export interface AgentRow {
  readonly identity: string;
  readonly busId: string;
  /** Null when no declaration is known. */
  readonly role: string | null;
  readonly host: string;
  readonly state: AgentState;
  readonly reason: string;
  /** The declaration compiles to something else than what runs. */
  readonly changed: boolean;
  /** Session id of the main task; null when it has no session here, and so for the members below. */
  readonly session: string | null;
  /** The agent's own process. */
  readonly pid: number | null;
  readonly hostPid: number | null;
  readonly startedAt: string | null;
  readonly exitCode: number | null;
  readonly status: SessionStatus | null;
  /** Launches after the first. */
  readonly restarts: number;
  /** The main one first. */
  readonly sessions: readonly SessionRow[];
}

/** A session that is nobody's. */
export interface UndeclaredRow {
  readonly session: string;
  readonly status: SessionStatus;
  readonly pid: number | null;
  readonly command: string;
  readonly cwd: string;
}

/** `ls --json`. */
export interface ListDocument {
  readonly network: string;
  readonly host: string;
  readonly supervisor: { readonly pid: number } | null;
  readonly agents: readonly AgentRow[];
  readonly undeclared: readonly UndeclaredRow[];
  readonly problems: readonly Problem[];
}

/** Reason of an agent that has sessions, or is held, and that no declaration names. */
export const NO_DECLARATION = "no declaration";

/** `supervisor` is the pid of the one that runs, null when none does. */
export function listDocument(world: World, decision: Decision, supervisor: number | null): ListDocument {
  const { agents, nobodys } = groupSeenAgents(world, decision);
  return {
    network: world.network,
    host: world.host,
    supervisor: supervisor === null ? null : { pid: supervisor },
    agents: agents.map((seen) => agentRow(seen, world)),
    undeclared: nobodys.map(undeclaredRow),
    problems: decision.problems,
  };
}

function agentRow(seen: SeenAgent, world: World): AgentRow {
  const { identity, busId, agent, sessions, main } = seen;
  const declaration = agent?.agent.entry.declaration ?? main?.ledger?.declaration?.declaration ?? null;
  const own = main === null ? null : sessionRow(main);
  const state = stateOf(seen, world);
  return {
    identity,
    busId,
    role: declaration?.role ?? null,
    host: agent === null ? shortHost(busId) : hostOf(agent.agent.entry.declaration, world.host),
    state,
    reason: reasonOf(seen, state),
    changed: isChanged(seen),
    session: own?.name ?? null,
    pid: own?.pid ?? null,
    hostPid: own?.hostPid ?? null,
    startedAt: own?.startedAt ?? null,
    exitCode: own?.exitCode ?? null,
    status: main?.status ?? null,
    restarts: main?.ledger?.restarts ?? 0,
    sessions: sessions.map(sessionRow),
  };
}

const STATE_OF_BLOCKED: Readonly<Record<Blocked, AgentState>> = {
  held: "held",
  parked: "flapping",
  waiting: "waiting",
  conflict: "conflict",
  unknown: "unknown",
  done: "done",
};

/** What keeps it from running comes before how its last run ended. */
function stateOf({ busId, agent, main }: SeenAgent, world: World): AgentState {
  if (agent === null) {
    const held = world.holds[busId] !== undefined && main?.process !== "unknown";
    return held ? "held" : main === null ? "vanished" : sessionState(main);
  }
  const { blocked, disposition } = agent.row;
  if (disposition === "otherHost") return "elsewhere";
  if (blocked === "unknown" && main?.starting === true) return "starting";
  if (blocked !== null) return STATE_OF_BLOCKED[blocked];
  if (disposition === "teardown") return "retired";
  if (agent.agent.conflict !== null) return "conflict";
  return main === null ? "waiting" : lifeOf(main);
}

function reasonOf(seen: SeenAgent, state: AgentState): string {
  const { agent, main } = seen;
  if (agent === null || agent.agent.source === "ledger") return NO_DECLARATION;
  const { blocked, reason } = agent.row;
  if (state === "starting") return "its launch is under way";
  if (state === "conflict") return agent.agent.conflict ?? reason;
  if (state === "held" && isLive(main)) return `${reason}; still runs`;
  if (blocked !== null || state === "elsewhere" || state === "retired") return reason;
  if (main === null) return "not started yet";
  const error = main.ledger?.end?.error ?? null;
  return state === "exited" && error !== null ? `could not be started: ${error}` : reason;
}

/** Whether a restart would run something else. A session without a ledger cannot be told, and is not called changed. */
function isChanged({ agent, sessions }: SeenAgent): boolean {
  if (agent === null || agent.agent.conflict !== null || agent.row.disposition === "otherHost") return false;
  return sessions.some((session) => runsOtherwise(session, agent.agent.specs));
}

function isLive(session: ObservedSession | null): boolean {
  return session !== null && liveOf([session]).length > 0;
}

/** What its processes, files and end say. */
function lifeOf(session: ObservedSession): Exclude<SessionState, "flapping"> {
  if (session.starting === true) return "starting";
  if (session.process === "unknown") return "unknown";
  if (!isLive(session)) return session.status === "exited" ? "exited" : "vanished";
  return session.orphaned === true ? "orphaned" : "running";
}

function sessionState(session: ObservedSession): SessionState {
  return session.tags[STATUS_TAG] === FLAPPING && !isLive(session) ? "flapping" : lifeOf(session);
}

function sessionRow(session: ObservedSession): SessionRow {
  const { name, tags, ledger, pid, childPid, createdAt, exitCode } = session;
  const named = tags["convoy.task"] ?? (tags.role === "ding" ? SIDECAR_TASK : MAIN_TASK);
  return {
    name,
    task: ledger?.task ?? named,
    role: tags.role ?? null,
    state: sessionState(session),
    pid: childPid ?? null,
    hostPid: pid,
    startedAt: createdAt ?? ledger?.launchedAt ?? null,
    exitCode,
  };
}

function undeclaredRow({
  name,
  status,
  childPid,
  command,
  args,
  cwd,
  record,
}: ObservedSession): UndeclaredRow {
  return {
    session: name,
    status,
    pid: childPid ?? null,
    command: record?.displayCommand || [command, ...args].join(" "),
    cwd: cwd ?? "",
  };
}

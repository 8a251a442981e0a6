/** From what a person typed to a session's open socket, or to the session as it ended. */
import { ConvoyError } from "../errors.ts";
import { liveOf } from "../reconcile.ts";
import { readSession } from "../registry/read.ts";
import type { ObservedSession } from "../session.ts";
import {
  connectSession,
  DEFAULT_TIMEOUT_MS,
  type SessionClient,
  type SessionFailure,
} from "../session-host/client.ts";
import { systemClock } from "../system/clock.ts";
import { type NetworkPaths, sessionPaths } from "../system/paths.ts";
import { findSession } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { lookAt } from "./look.ts";
import { networkFlag } from "./network.ts";

/** The session that a command is about. */
export interface Target {
  readonly paths: NetworkPaths;
  readonly session: ObservedSession;
  /** Null, as the bus id, for a session that is nobody's. */
  readonly identity: string | null;
  readonly busId: string | null;
  /** ` --network …`, where a command to type next needs it. */
  readonly flag: string;
}

/** Throws "not-found" when `ref` names nothing, "failed" when the agent has no session here. */
export async function findTarget(
  ref: string,
  context: Pick<CommandContext, "network" | "env" | "home" | "output">,
): Promise<Target> {
  const look = await lookAt(context);
  const { agent, session } = findSession(look, ref);
  const flag = networkFlag(context.network());
  if (session !== null) {
    const { identity = null, busId = null } = agent ?? {};
    return { paths: look.paths, session, identity, busId, flag };
  }
  const reason = agent?.agent?.row.reason ?? "no session";
  throw new ConvoyError("failed", `${agent?.identity} has no session here: ${reason}`, `convoy ls${flag}`);
}

/** Whether the session runs, or may do so. */
export function isLive(session: ObservedSession | null): session is ObservedSession {
  return session !== null && liveOf([session]).length > 0;
}

export type Opened =
  | { readonly state: "open"; readonly client: SessionClient }
  | { readonly state: "ended"; readonly session: ObservedSession };

const RETRY_MS = 50;

/**
 * Connects to the session's host. One that is starting, or that has lost its socket for a moment, is waited for;
 * after 5 s without an answer, and where only the agent's process is left, it throws "failed".
 */
export async function openSession({ paths, session, flag }: Target): Promise<Opened> {
  const deadline = performance.now() + DEFAULT_TIMEOUT_MS;
  for (let found = session; ; await systemClock.sleep(RETRY_MS)) {
    if (!isLive(found)) return { state: "ended", session: found };
    if (found.orphaned === true) throw orphaned(found, flag);
    const connected = await connectSession(sessionPaths(paths.pty, found.name).socket);
    if (connected.ok) return { state: "open", client: connected.session };
    if (connected.reason !== "refused" || performance.now() > deadline) throw silent(found, connected);
    found = (await readSession(paths.pty, found.name)) ?? found;
  }
}

function orphaned({ name, childPid }: ObservedSession, flag: string): ConvoyError {
  const message = `${name} runs without its session host (pid ${childPid ?? "?"}): its screen is gone`;
  return new ConvoyError("failed", message, `convoy restart ${name}${flag}`);
}

/** A session host that says nothing. */
export function silent({ name, pid }: ObservedSession, failure: SessionFailure): ConvoyError {
  const host = pid === null ? "" : ` (pid ${pid})`;
  const what =
    failure.reason === "timeout"
      ? `does not answer within ${DEFAULT_TIMEOUT_MS / 1_000} s`
      : `cannot be asked: ${failure.message}`;
  return new ConvoyError("failed", `the session host of ${name}${host} ${what}`);
}

/** A session host that went away while it was talked to; `now` is what is left. */
export function hostGone({ session: { name }, flag }: Target, now: ObservedSession | null): ConvoyError {
  if (now?.orphaned === true) {
    const message = `the session host of ${name} is gone; the agent runs on (pid ${now.childPid ?? "?"}), without a screen`;
    return new ConvoyError("failed", message, `convoy restart ${name}${flag}`);
  }
  return new ConvoyError("failed", `the session host of ${name} is gone`, `convoy ls${flag}`);
}

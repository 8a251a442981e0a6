/**
 * What to do about one session of an agent that is to run here: most specific rule first.
 * An end that was asked for and a reboot are no failures; a failed launch is tried again by the timer.
 */
import { decideRespawn, isChangedCommand, isParked, type RespawnDecision, readCap } from "./flapping-cap.ts";
import type { Ledger, SessionSpec } from "./ledger.ts";
import type { ObservedSession } from "./session.ts";
import { patchTags, type Tags, withEmptyAccounting } from "./tags.ts";
import type { Lacking, World } from "./world.ts";

export type SessionVerdict =
  | { readonly verdict: "unknown" }
  | { readonly verdict: "alive" }
  | { readonly verdict: "done" }
  | { readonly verdict: "parked"; readonly fastFails: number; readonly limit: number }
  | { readonly verdict: "park"; readonly respawn: RespawnDecision }
  | { readonly verdict: "waiting"; readonly for: string }
  | {
      readonly verdict: "start";
      readonly kind: "launch" | "respawn";
      readonly reason: string;
      readonly tags: Tags;
      readonly tagsBefore: Tags;
      readonly fastFails: number;
      readonly limit: number;
    };

/**
 * `session` is the one that stands under the spec's name (or, for a main task, the agent's last main session);
 * null when there never was one here.
 */
export function decideSession(
  spec: SessionSpec,
  session: ObservedSession | null,
  batch: boolean,
  world: World,
): SessionVerdict {
  if (session !== null && session.process === "unknown") return { verdict: "unknown" };
  if (session !== null && (session.processAlive || session.status === "running")) return { verdict: "alive" };
  const finished = spec.main && batch && session?.status === "exited" && session.exitCode === 0;
  if (finished && session.ledger?.endedBy !== "restart") return { verdict: "done" };
  const tags = session?.tags ?? {};
  if (isParked(tags, spec.command, spec.args))
    return { verdict: "parked", ...readCap(tags, overrides(world)) };
  const lacking = describeLacking(world.lacking.get(spec.name));
  if (lacking !== null) return { verdict: "waiting", for: lacking };
  if (session === null) return start("launch", "no session", {}, {}, world);
  return decideDead(spec, session, world);
}

function decideDead(spec: SessionSpec, session: ObservedSession, world: World): SessionVerdict {
  const { tags } = session;
  const ledger = session.ledger ?? null;
  if (ledger !== null && !ledger.failedLaunch && ledger.host === null && ledger.end === null)
    return start("launch", "an earlier launch was interrupted", ledger.tags, ledger.tags, world);
  const fresh = notAFailure(ledger, world);
  if (fresh !== null) return start("launch", fresh, withEmptyAccounting(tags), tags, world);
  if (ledger?.failedLaunch === true && !isChangedCommand(tags, spec.command, spec.args)) {
    if (world.trigger === "event")
      return { verdict: "waiting", for: "the next timer pass, after a launch that failed" };
    return start("launch", "the last launch failed", tags, tags, world);
  }
  const respawn = decideRespawn({
    tags,
    command: spec.command,
    args: spec.args,
    exitedAt: session.exitedAt,
    now: world.now,
    ...overrides(world),
  });
  if (respawn.action !== "respawn") return { verdict: "park", respawn };
  return start("respawn", describeEnd(session), patchTags(tags, respawn.set, respawn.remove), tags, world);
}

/** Why the next launch starts with empty accounting; null when the end counts. */
function notAFailure(ledger: Ledger | null, world: World): string | null {
  if (ledger === null) return null;
  if (ledger.endedBy !== null) return `after ${ledger.endedBy}`;
  if (ledger.boot !== world.boot) return "after a restart of the machine";
  return null;
}

function describeEnd(session: ObservedSession): string {
  if (session.status === "vanished") return "vanished";
  return session.exitCode === null ? "killed with no exit code" : `exit code ${session.exitCode}`;
}

function start(
  kind: "launch" | "respawn",
  reason: string,
  tags: Tags,
  tagsBefore: Tags,
  world: World,
): SessionVerdict {
  const { fastFails, limit } = readCap(tags, overrides(world));
  return { verdict: "start", kind, reason, tags, tagsBefore, fastFails, limit };
}

/** The supervisor's own window and limit, where its command line gave some. */
export function overrides(world: World): { windowSeconds?: number; limit?: number } {
  return {
    ...(world.fastFailWindow === undefined ? {} : { windowSeconds: world.fastFailWindow }),
    ...(world.fastFailLimit === undefined ? {} : { limit: world.fastFailLimit }),
  };
}

/** One line for a person; null when nothing is lacking. */
export function describeLacking(lacking: Lacking | undefined): string | null {
  if (lacking === undefined) return null;
  if (lacking.workspace !== null) return `workspace ${lacking.workspace}`;
  if (lacking.binary === null) return null;
  const { name, path } = lacking.binary;
  if (name.includes("/")) return `program ${name}`;
  return `${name} on PATH (${path})`;
}

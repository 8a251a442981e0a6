/**
 * What happened, as data: one event has one rendering for people and one for machines, both made here.
 * Members are those of the contract's `up --json`; a record written by a newer convoy may carry more.
 */

import { count } from "./count.ts";
import type { Problem } from "./declaration.ts";
import type { PlanRow } from "./world.ts";

/** Where an event belongs to one agent or one session of it. */
export interface About {
  readonly identity: string;
  readonly busId: string;
  readonly session: string;
}

/** The plan in the form of `plan --json`. */
export interface PlanDocument {
  readonly type: "plan";
  readonly network: string;
  readonly host: string;
  readonly launch: readonly string[];
  readonly teardown: readonly string[];
  readonly adopt: readonly string[];
  readonly otherHost: readonly string[];
  readonly agents: readonly PlanRow[];
  readonly problems: readonly Problem[];
}

export interface TrustFileReport {
  readonly path: string;
  readonly written: boolean;
  readonly added: readonly string[];
  /** Folders about which the file says something else: the user's own decision, left alone. */
  readonly refused: readonly string[];
  readonly problem: string | null;
}

export type EventBody =
  | {
      readonly type: "up";
      readonly network: string;
      readonly host: string;
      readonly pid: number;
      readonly version: string;
    }
  | PlanDocument
  | { readonly type: "pretrust"; readonly files: readonly TrustFileReport[] }
  /** Destinations that were written into an agent's workspace, relative to it, before its launch. */
  | ({ readonly type: "render"; readonly workspace: string; readonly files: readonly string[] } & About)
  | ({
      readonly type: "launch";
      readonly pid: number | null;
      readonly hostPid: number;
      readonly reason: string;
    } & About)
  | ({
      readonly type: "launch_failed";
      readonly error: string;
      readonly fastFails: number;
      readonly limit: number;
    } & About)
  /** `outside`: its session host is another program's. */
  | ({ readonly type: "adopt"; readonly pid: number | null; readonly outside?: true } & About)
  | ({
      readonly type: "death";
      readonly kind: "vanished" | "exited";
      readonly exitCode: number | null;
      readonly message: string;
      readonly lastLine: string | null;
    } & About)
  | ({
      readonly type: "respawn";
      readonly pid: number | null;
      readonly fastFails: number;
      readonly limit: number;
    } & About)
  | ({
      readonly type: "session_flapping";
      readonly counter: number;
      readonly limit: number;
      readonly window: number;
    } & About)
  | ({ readonly type: "retire"; readonly result: string } & About)
  | {
      readonly type: "held";
      readonly identity: string;
      readonly busId: string;
      readonly by: string;
      readonly at: string;
    }
  | { readonly type: "released"; readonly identity: string; readonly busId: string }
  | { readonly type: "waiting"; readonly identity: string; readonly busId: string; readonly for: string }
  | ({ readonly type: "heal"; readonly task: string; readonly pid: number | null } & About)
  | ({ readonly type: "survivor"; readonly pids: readonly number[] } & About)
  | ({ readonly type: "down"; readonly result: string; readonly pid: number | null } & About)
  | {
      readonly type: "catalog_error";
      readonly path: string;
      readonly line: number | null;
      readonly message: string;
    }
  | {
      readonly type: "catalog_warning";
      readonly path: string;
      readonly line: number | null;
      readonly message: string;
    }
  | ({ readonly type: "warning"; readonly message: string } & Partial<About>)
  | {
      readonly type: "once_summary";
      readonly launched: number;
      readonly adopted: number;
      readonly torndown: number;
      readonly parked: number;
      readonly waiting: number;
      readonly held: number;
      readonly failed: number;
    }
  | { readonly type: "detach"; readonly kept: number };

/** `ts` is ISO 8601, UTC, with milliseconds. */
export type ConvoyEvent = EventBody & { readonly ts: string };

export type EventType = EventBody["type"];

/** Whether the event is about the agent or session that `ref` names by identity, bus id or session id. */
export function isAbout(event: ConvoyEvent, ref: string): boolean {
  const { identity, busId, session } = event as Partial<About>;
  return identity === ref || busId === ref || session === ref;
}

/** One line of `.convoy/events.jsonl`, `up --json` and `events --json`, without the newline. */
export function formatEventJson(event: ConvoyEvent): string {
  const { ts, type, ...rest } = event;
  return JSON.stringify({ ts, type, ...rest });
}

/** What a person reads, without the time. `networkFlag` is what a command needs behind its name to reach this network. */
export function describeEvent(event: EventBody, networkFlag = ""): string {
  switch (event.type) {
    case "up":
      return `convoy ${event.version} supervises ${event.network} on ${event.host} (pid ${event.pid})`;
    case "plan":
      return describeCounts(event);
    case "pretrust":
      return event.files.map(describeTrust).join("; ");
    case "render":
      return `${event.session}: ${describeFiles(event.files)} rendered into ${event.workspace}`;
    case "launch":
      return `${event.session} started, ${pidText(event.pid)} (${event.reason})`;
    case "launch_failed":
      return `${event.session} could not be started: ${event.error} (failure ${event.fastFails} of ${event.limit})`;
    case "adopt":
      return `${event.session} runs already, ${pidText(event.pid)}${event.outside === true ? ", outside convoy's host" : ""}`;
    case "death":
      return `${event.session} died: ${event.message}${event.lastLine === null ? "" : `; last line: ${event.lastLine}`}`;
    case "respawn":
      return `${event.session} started again, ${pidText(event.pid)} (fast failures: ${event.fastFails} of ${event.limit})`;
    case "session_flapping":
      return `${event.session} parked after ${count(event.counter, "failure")} within ${event.window} s each; to try again: convoy reset ${event.identity}${networkFlag}`;
    case "retire":
      return `${event.session} is retired: ${event.result}`;
    case "held":
      return `${event.identity} is held by ${event.by} since ${event.at}; to let it run: convoy release ${event.identity}${networkFlag}`;
    case "released":
      return `${event.identity} is no longer held`;
    case "waiting":
      return `${event.identity} waits for ${event.for}`;
    case "heal":
      return `${event.session} restored (task ${event.task}), ${pidText(event.pid)}`;
    case "survivor":
      return `${event.session} is not started again: processes of its last run survive (${event.pids.join(", ")})`;
    case "down":
      return `${event.session} ${event.result}`;
    case "catalog_error":
      return describeProblem({ ...event, severity: "error" });
    case "catalog_warning":
      return describeProblem({ ...event, severity: "warning" });
    case "warning":
      return event.message;
    case "once_summary":
      return `launched ${event.launched}, adopted ${event.adopted}, torn down ${event.torndown}, parked ${event.parked}, waiting ${event.waiting}, held ${event.held}, failed ${event.failed}`;
    case "detach":
      return `detached: ${count(event.kept, "session")} left running; to end them: convoy down${networkFlag}`;
    default:
      return describeUnknown(event);
  }
}

/** A record of a convoy newer than this one: its type, and what it carries. */
function describeUnknown(event: never): string {
  const { type, ...rest } = event as { type: string };
  return `${type} ${JSON.stringify(rest)}`;
}

/** `path:line: message`. */
export function describeProblem(problem: Problem): string {
  const where = problem.line === null ? problem.path : `${problem.path}:${problem.line}`;
  return `${where}: ${problem.message}`;
}

function describeFiles(files: readonly string[]): string {
  return files.length === 1 ? `${files[0]}` : `${files.length} files`;
}

function pidText(pid: number | null): string {
  return pid === null ? "pid not known yet" : `pid ${pid}`;
}

function describeTrust(file: TrustFileReport): string {
  if (file.problem !== null) {
    const problem = file.problem.startsWith(file.path) ? file.problem : `${file.path}: ${file.problem}`;
    return `trust not written, so agents may stop at the trust question: ${problem}`;
  }
  const done = file.written
    ? `${count(file.added.length, "workspace")} trusted in ${file.path}`
    : `nothing to add to ${file.path}`;
  if (file.refused.length === 0) return done;
  return `${done}; left alone, since it says otherwise about ${file.refused.join(", ")}`;
}

function describeCounts(plan: PlanDocument): string {
  const blocked = plan.agents.filter((agent) => agent.blocked !== null).length;
  return `launch ${plan.launch.length}, tear down ${plan.teardown.length}, keep ${plan.adopt.length}, other host ${plan.otherHost.length}, blocked ${blocked}`;
}

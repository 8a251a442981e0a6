/** The ledger of a launch, from what is to be launched and the run before it (formats §6b). */
import { HOST_PROTOCOL, LEDGER_VERSION, type Ledger, type RunEnd, type SessionSpec } from "./ledger.ts";

const PREVIOUS_ENDS = 5;

export interface LaunchRequest {
  readonly spec: SessionSpec;
  readonly declaration: Ledger["declaration"];
  /** Base environment of a first launch; an existing ledger's is kept unless `freshEnv`. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly freshEnv: boolean;
  /** Tags that the session has before the launch, with the accounting patch applied. */
  readonly tags: Readonly<Record<string, string>>;
  /** How long another program that may be starting the session is given to show itself; no time when absent. */
  readonly gapMs?: number;
}

/** What tells one launch from the others. */
export interface Launch {
  readonly launchId: string;
  readonly launchedAt: string;
  readonly version: string;
  readonly boot: string;
}

/** The ledger as a launch writes it before the process exists; `before` is that of the run before. */
export function nextLedger(before: Ledger | null, request: LaunchRequest, launch: Launch): Ledger {
  const { spec, declaration, tags } = request;
  return {
    v: LEDGER_VERSION,
    agent: spec.agent,
    identity: spec.identity,
    task: spec.task,
    host: null,
    child: null,
    socket: null,
    ...launch,
    protocol: HOST_PROTOCOL,
    declaration: declaration ?? before?.declaration ?? null,
    spec,
    baseEnv: before === null || request.freshEnv ? request.baseEnv : before.baseEnv,
    tags: { ...tags, ...spec.tags },
    tagsAt: launch.launchedAt,
    endedBy: null,
    terminated: false,
    restarts: before === null ? 0 : before.restarts + 1,
    end: null,
    previous: before === null ? [] : [endOf(before), ...before.previous].slice(0, PREVIOUS_ENDS),
    reportedEnd: before?.reportedEnd ?? null,
    failedLaunch: false,
  };
}

function endOf(ledger: Ledger): RunEnd {
  return ledger.end ?? { exitCode: null, exitedAt: null, lastLines: [], error: null };
}

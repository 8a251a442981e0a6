/** The only place that joins the rooms: the ports of one network, with the real adapters behind them. */
import { join } from "node:path";
import process from "node:process";
import { readIdentityLine } from "../catalog/locate.ts";
import { readCatalog } from "../catalog/read.ts";
import { watchCatalog } from "../catalog/watch.ts";
import { baseEnvironment } from "../environment.ts";
import { messageOf } from "../errors.ts";
import type { ConvoyEvent } from "../events.ts";
import { restartGapMs } from "../foreign-restart.ts";
import { trustAccess } from "../harness-files/trust-access.ts";
import { lookAtConfig } from "../harness-files/update-config.ts";
import { clearStale } from "../registry/clear-stale.ts";
import { appendEvents } from "../registry/events-log.ts";
import { type ForgetResult, forgetSession } from "../registry/forget.ts";
import { readHostName } from "../registry/host-name.ts";
import { readSession } from "../registry/read.ts";
import { createRegistry } from "../registry/registry.ts";
import { createSessionFiles } from "../registry/session-files.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { watchRegistry } from "../registry/watch.ts";
import { createDeathWatch } from "../session-host/death-watch.ts";
import { createLauncher } from "../session-host/launch.ts";
import type { DownPorts } from "../supervisor/down.ts";
import { createEnder } from "../supervisor/ender.ts";
import type { LoopPorts } from "../supervisor/loop.ts";
import type { PassSettings, TrustPort } from "../supervisor/ports.ts";
import { systemClock } from "../system/clock.ts";
import { readLogin } from "../system/login.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { processTable } from "../system/processes.ts";
import { createWorkspace, isDirectory, isExecutable } from "../system/programs.ts";
import { pretrust } from "../trust.ts";
import { VERSION } from "../version.ts";
import { renderWorkspace } from "../workspace/render.ts";

/** Launches under way at once: a launch is mostly waiting for its host, a few per core keep both cores busy. */
const PARALLEL_LAUNCHES = 8;
export const DEFAULT_GRACE_MS = 5_000;
/** Between two looks for a host that another program may be about to start. */
const RESTART_LOOK_MS = 100;

export interface WiringOptions {
  readonly paths: NetworkPaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Where events are shown, beside the network's own log. */
  readonly show: (event: ConvoyEvent) => void;
  /** Whether events go to `.convoy/events.jsonl`: only for what changes something. */
  readonly record: boolean;
  /** Told when that log cannot be written; an event shown when absent. */
  readonly onLogProblem?: (message: string) => void;
}

/** How this binary starts itself: the file may have been renamed over, the running image is still there. */
export function ownCommand(): string[] {
  return [process.platform === "linux" ? "/proc/self/exe" : process.execPath];
}

/** Everything that a command on one network may need. */
export interface NetworkPorts extends LoopPorts, DownPorts {
  forget(name: string): Promise<ForgetResult>;
}

export function createPorts({ paths, show, record, onLogProblem }: WiringOptions): NetworkPorts {
  const registry = createRegistry(paths);
  const files = createSessionFiles(paths.pty);
  const supervisor = () => readSupervisor(paths)?.pid ?? null;
  return {
    clock: systemClock,
    boot: processTable.boot(),
    catalog: {
      read: () => readCatalog({ catalogDir: paths.catalog }),
      locate: (path) => readIdentityLine(join(paths.catalog, path)),
    },
    registry,
    launcher: createLauncher({
      registry: paths.pty,
      files,
      version: VERSION,
      hostCommand: ownCommand(),
      isHeld: async (busId) => (await registry.readHolds())[busId] !== undefined,
      lastLook: (name, gapMs) => lastLook(paths.pty, name, gapMs),
    }),
    events: {
      emit: createEmit(
        record ? (event) => appendEvents(paths.events, [event]) : () => {},
        show,
        onLogProblem,
      ),
      appendToSession: (name, event) => files.appendEvent(name, event),
    },
    facts: { isDirectory, isExecutable, createWorkspace },
    trust: createTrust(),
    render: { render: renderWorkspace },
    ender: createEnder(
      { stRoot: paths.smalltalk, keepPids: () => [supervisor()].filter((pid) => pid !== null) },
      { table: processTable, signal: (pid, signal) => process.kill(pid, signal), clock: systemClock },
    ),
    watchCatalog: (onChange, onProblem) => watchCatalog(paths.catalog, onChange, onProblem),
    watchRegistry: (onChange, onProblem) => watchRegistry(paths.pty, onChange, onProblem),
    deaths: createDeathWatch(paths.pty, files),
    withLaunchLock: (name, body) => files.withLaunchLock(name, body),
    clearStale: (name) => clearStale(paths.pty, name),
    forget: (name) => forgetSession(paths.pty, name),
  };
}

/**
 * Keeps and shows events. A log that cannot be written is said once, until it can be again or something else is wrong
 * with it: it is never a reason to stop what the events are about.
 */
export function createEmit(
  keep: (event: ConvoyEvent) => void,
  show: (event: ConvoyEvent) => void,
  onProblem: (message: string) => void = (message) =>
    show({ ts: systemClock.now().toISOString(), type: "warning", message }),
): (event: ConvoyEvent) => void {
  let said: string | null = null;
  const failure = (event: ConvoyEvent): string | null => {
    try {
      keep(event);
      return null;
    } catch (error) {
      return messageOf(error);
    }
  };
  return (event) => {
    const problem = failure(event);
    if (problem !== null && problem !== said) onProblem(`this is not kept in the event log: ${problem}`);
    said = problem;
    show(event);
  };
}

/**
 * What the processes of one session say right before its launch. Where another program may be about to start it, it is
 * looked at until that must have shown itself, for `gapMs` at least.
 */
async function lastLook(
  registry: string,
  name: string,
  gapMs: number,
): Promise<"dead" | "alive" | "unknown"> {
  const began = performance.now();
  let waitMs: number | null = null;
  while (true) {
    const session = await readSession(registry, name, { ownLock: true });
    if (session !== null && session.process !== "not-ours")
      return session.process === "ours" ? "alive" : "unknown";
    waitMs ??= Math.max(gapMs, session === null ? 0 : restartGapMs(session, systemClock.now()));
    const leftMs = waitMs - (performance.now() - began);
    if (leftMs <= 0) return "dead";
    await systemClock.sleep(Math.min(leftMs, RESTART_LOOK_MS));
  }
}

function createTrust(): TrustPort {
  return {
    async pretrust(requests, { dryRun }) {
      const readIsOnPath = remembering(trustAccess.readIsOnPath);
      const access = { ...trustAccess, readIsOnPath, ...(dryRun ? { updateConfig: lookAtConfig } : {}) };
      const { files, unresolved } = await pretrust(requests, access);
      const lost = unresolved.map(({ workspace, problem }) => {
        return { path: workspace, written: false, added: [], refused: [], problem };
      });
      return [...files, ...lost];
    },
  };
}

/** One batch asks the same about every agent. */
function remembering(ask: (program: string, path: string) => boolean): typeof ask {
  const answers = new Map<string, boolean>();
  return (program, path) => {
    const key = `${program}\0${path}`;
    const answer = answers.get(key) ?? ask(program, path);
    answers.set(key, answer);
    return answer;
  };
}

export interface SettingsOptions {
  readonly host?: string;
  readonly fastFailWindow?: number;
  readonly fastFailLimit?: number;
  readonly graceMs?: number;
}

export function createSettings(options: WiringOptions, over: SettingsOptions = {}): PassSettings {
  const { paths, env, home } = options;
  return {
    network: paths,
    host: over.host ?? readHostName(paths, { override: env.CONVOY_HOST }).host,
    home,
    version: VERSION,
    baseEnv: baseEnvironment(env, readLogin(home, env)),
    graceMs: over.graceMs ?? DEFAULT_GRACE_MS,
    parallel: PARALLEL_LAUNCHES,
    ...(over.fastFailWindow === undefined ? {} : { fastFailWindow: over.fastFailWindow }),
    ...(over.fastFailLimit === undefined ? {} : { fastFailLimit: over.fastFailLimit }),
  };
}

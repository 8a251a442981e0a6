/**
 * Starts session hosts. The intention is written before the act, under the session's launch lock, so that a crash in
 * between leaves a record without a process, never a process without a record.
 */
import process from "node:process";
import { ConvoyError, messageOf } from "../errors.ts";
import { MAX_SOCKET_PATH_BYTES } from "../identity.ts";
import type { Ledger } from "../ledger.ts";
import { type LaunchRequest, nextLedger } from "../next-ledger.ts";
import { isHostLine } from "../process-marks.ts";
import type { ProcessIdentity, SessionRecord } from "../session.ts";
import { effect } from "../system/effects.ts";
import { sessionPaths } from "../system/paths.ts";
import { identify, identityOf, processTable } from "../system/processes.ts";
import { makeLifeLine } from "./life-line.ts";
import type { SessionFiles } from "./ports.ts";

const WAIT_MS = 10_000;
const POLL_MS = 5;
const ROWS = 24;
const COLS = 80;

export type LaunchResult =
  | { readonly result: "started"; readonly pid: number; readonly hostPid: number }
  | { readonly result: "starting"; readonly hostPid: number }
  | { readonly result: "failed"; readonly error: string }
  | { readonly result: "refused"; readonly reason: "held" | "alive" | "unknown" };

export interface LauncherOptions {
  /** The pty folder of the network, absolute. */
  readonly registry: string;
  readonly files: SessionFiles;
  /** Whether the agent with this bus id is held; asked under the launch lock. */
  readonly isHeld: (busId: string) => Promise<boolean>;
  /**
   * Whether the session's processes live; asked under the launch lock. "dead" may take that many ms, or as many as what
   * it finds calls for.
   */
  readonly lastLook: (name: string, gapMs: number) => Promise<"dead" | "alive" | "unknown">;
  /** Convoy's version. */
  readonly version: string;
  /** Program and first arguments that start this binary: `/proc/self/exe` on Linux. */
  readonly hostCommand: readonly string[];
  /** How long an agent may take to run before a launch is called "starting". */
  readonly waitMs?: number;
}

/** A launcher for the sessions of one network; it fits the supervisor's `LauncherPort`. */
export function createLauncher(options: LauncherOptions) {
  return {
    /** Writes record and ledger, starts the host, waits until its agent runs, it failed, or `waitMs` are over. */
    async launch(request: LaunchRequest): Promise<LaunchResult> {
      const { socket } = sessionPaths(options.registry, request.spec.name);
      const bytes = Buffer.byteLength(socket);
      if (bytes > MAX_SOCKET_PATH_BYTES) {
        return { result: "failed", error: `the socket path ${socket} has ${bytes} bytes, 103 are possible` };
      }
      try {
        const begun = await options.files.withLaunchLock(request.spec.name, () => begin(options, request));
        return "result" in begun ? begun : await settle(options, request.spec.name, begun);
      } catch (error) {
        return { result: "failed", error: messageOf(error) };
      }
    },

    /** Asks a living host to put its registry files back. Nothing is sent to a process that is not provably it. */
    async nudge(session: Nudged): Promise<void> {
      const host = session.ledger?.host ?? null;
      if (host !== null && identify(host, session.ledger?.boot ?? "") !== "ours") return;
      const pid = host?.pid ?? session.pid;
      if (pid === null || !isHostLine(processTable.commandLine(pid), session.name)) return;
      process.kill(pid, "SIGWINCH");
      effect("signal-nudge");
    },
  };
}

/** A session whose host is to be nudged. */
export interface Nudged {
  readonly name: string;
  readonly ledger?: Ledger | null;
  /** Where its ledger names no host: the pid that showed itself as that. */
  readonly pid: number | null;
}

/** A host that has been started, and the launch that it is for. */
interface Begun {
  readonly launchId: string;
  readonly hostPid: number;
  /** Resolves when the host's process is gone. */
  readonly gone: Promise<unknown>;
}

/**
 * Under the launch lock: the last look, the intention, the spawn, and who the host is. The ledger comes first: a record
 * without one is another program's session.
 */
async function begin(options: LauncherOptions, request: LaunchRequest): Promise<Begun | LaunchResult> {
  const { files } = options;
  const { spec } = request;
  const look = await options.lastLook(spec.name, request.gapMs ?? 0);
  if (look !== "dead") return { result: "refused", reason: look };
  if (await options.isHeld(spec.agent)) return { result: "refused", reason: "held" };
  await nextTurn();
  const launchId = crypto.randomUUID();
  const launchedAt = new Date().toISOString();
  await files.changeLedger(spec.name, (before) =>
    nextLedger(before, request, {
      launchId,
      launchedAt,
      version: options.version,
      boot: processTable.boot(),
    }),
  );
  await files.changeRecord(spec.name, (record) => freshRecord(record, request, launchedAt));
  makeLifeLine(sessionPaths(options.registry, spec.name).lifeLine);
  const host = spawnHost(options, spec.name);
  await files.changeLedger(spec.name, (ledger) =>
    ledger?.launchId === launchId && ledger.host === null ? { ...ledger, host: host.identity } : null,
  );
  return { launchId, hostPid: host.pid, gone: host.gone };
}

/**
 * Many launches at once take their steps in turn, a lock held by one while the others spawn. From its own turn of the
 * event loop on, each goes through without another in between.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Members of other writers stay; those of an earlier run's end go. */
function freshRecord(before: SessionRecord | null, request: LaunchRequest, createdAt: string): SessionRecord {
  const { spec, tags } = request;
  const {
    exitCode: _exitCode,
    exitedAt: _exitedAt,
    lastLines: _lastLines,
    daemonPid: _daemonPid,
    lastAttachAt: _lastAttachAt,
    ...kept
  } = before ?? {};
  return {
    ...kept,
    command: spec.command,
    args: [...spec.args],
    displayCommand: spec.displayCommand,
    cwd: spec.cwd,
    createdAt,
    rows: ROWS,
    cols: COLS,
    tags: { ...tags, ...spec.tags },
  };
}

/**
 * The host's environment holds nothing of the agent's: it reads that from the ledger. Its process holds nothing of
 * this one: no descriptor, no terminal, no folder.
 */
function spawnHost(
  options: LauncherOptions,
  name: string,
): { readonly pid: number; readonly identity: ProcessIdentity; readonly gone: Promise<unknown> } {
  const host = Bun.spawn([...options.hostCommand, "__session-host", options.registry, name], {
    argv0: "convoy",
    cwd: "/",
    detached: true,
    stdio: ["ignore", "ignore", "ignore"],
    env: hostEnvironment(process.env),
  });
  effect("host-spawn");
  host.unref();
  const identity = identityOf(host.pid);
  if (identity === null) throw new ConvoyError("failed", `the session host of ${name} ended at once`);
  return { pid: host.pid, identity, gone: host.exited };
}

/**
 * Idle hosts: no collector's timer (a fifth of the CPU), no collector's threads (0.1 MB), and no optimising compiler,
 * whose memory an emulator pays for and hardly gets faster by. Never handed on to the program.
 */
const RUNTIME_SETTINGS = {
  BUN_GC_TIMER_DISABLE: "1",
  BUN_JSC_useConcurrentGC: "0",
  BUN_JSC_numberOfGCMarkers: "1",
  BUN_JSC_useDFGJIT: "0",
};

/** What a host gets of this process's environment. */
export function hostEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed: Record<string, string> = { ...RUNTIME_SETTINGS };
  if (env.PATH !== undefined) passed.PATH = env.PATH;
  if (env.HOME !== undefined) passed.HOME = env.HOME;
  for (const hook of ["KILL_AFTER", "EFFECTS"]) {
    const value = env[`CONVOY_TEST_HOST_${hook}`];
    if (value !== undefined) passed[`CONVOY_TEST_${hook}`] = value;
  }
  return passed;
}

/** Waits for what the host writes into the ledger. */
async function settle(options: LauncherOptions, name: string, begun: Begun): Promise<LaunchResult> {
  const deadline = performance.now() + (options.waitMs ?? WAIT_MS);
  let gone = false;
  void begun.gone.then(() => {
    gone = true;
  });
  while (true) {
    // Read after the look at `gone`: what a host wrote before it went is seen.
    const lastTry = gone;
    const ledger = options.files.readLedger(name);
    if (ledger?.launchId !== begun.launchId) return { result: "refused", reason: "alive" };
    if (ledger.end?.error) return { result: "failed", error: ledger.end.error };
    if (ledger.child !== null) {
      return { result: "started", pid: ledger.child.pid, hostPid: ledger.host?.pid ?? begun.hostPid };
    }
    if (lastTry) return { result: "failed", error: "its session host ended before the agent ran" };
    if (performance.now() >= deadline) return { result: "starting", hostPid: begun.hostPid };
    await Bun.sleep(POLL_MS);
  }
}

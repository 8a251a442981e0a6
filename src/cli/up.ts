/** `convoy up`: takes the network's lock, lifts holds, and supervises until a signal; or makes one pass. */
import process from "node:process";
import { decide } from "../decide.ts";
import { ConvoyError, messageOf } from "../errors.ts";
import type { ConvoyEvent, EventBody } from "../events.ts";
import { rememberHostName } from "../registry/host-name.ts";
import { createNetwork, inspectNetwork } from "../registry/network.ts";
import { acquireSupervisorLock, readSupervisor } from "../registry/supervisor-lock.ts";
import { sweepTemporaries } from "../registry/sweep.ts";
import { supervise } from "../supervisor/loop.ts";
import { observe } from "../supervisor/observe.ts";
import { pass } from "../supervisor/pass.ts";
import type { PassPorts, PassSettings } from "../supervisor/ports.ts";
import { nothingSaid } from "../supervisor/said.ts";
import { systemClock } from "../system/clock.ts";
import { type NetworkPaths, networkPaths } from "../system/paths.ts";
import { VERSION } from "../version.ts";
import type { CommandContext } from "./command.ts";
import { detachSupervisor } from "./detach.ts";
import { type EventForm, eventPrinter, lastingPrinter } from "./events-output.ts";
import { heldByAnother } from "./held-by.ts";
import { createEventHook } from "./on-event.ts";
import { createPorts, createSettings } from "./wiring.ts";

/** Between two looks whether the network is free. */
const WAIT_MS = 500;

export interface UpOptions {
  /** Absolute root. */
  readonly network: string;
  /** What a command for this network needs behind its name. */
  readonly networkFlag: string;
  readonly once: boolean;
  readonly detach: boolean;
  readonly keepHolds: boolean;
  readonly wait: boolean;
  readonly intervalMs: number;
  readonly fastFailWindow: number | null;
  readonly fastFailLimit: number | null;
  readonly onEvent: string | null;
  readonly json: boolean;
}

/** How long a supervisor that leaves waits for a reader that does not read. */
const LAST_WORDS_MS = 500;

type Around = Pick<CommandContext, "output" | "env" | "home" | "cwd">;

/** Resolves to the exit code. */
export async function runUp(options: UpOptions, around: Around): Promise<number> {
  const paths = networkPaths(options.network);
  requireSomethingToSupervise(paths, options);
  if (options.detach) return await detachSupervisor(paths, options, around);
  const lock = options.wait
    ? await waitForLock(paths, options, around)
    : await acquireSupervisorLock(paths, VERSION);
  if (!lock.held) throw heldByAnother(paths, lock.holder?.pid ?? null);
  const named = rememberHostName(paths, { override: around.env.CONVOY_HOST });
  const print = eventPrinter(around.output, formOf(options), options.networkFlag);
  const printed = options.once ? print : lastingPrinter(print, around.output.warn);
  const hook = options.onEvent === null ? null : createEventHook(options.onEvent, around.cwd, around.output);
  const show = (event: ConvoyEvent) => {
    printed(event);
    hook?.(event);
  };
  const wiring = { paths, env: around.env, home: around.home, show, record: true };
  const ports = createPorts(wiring);
  const { fastFailWindow, fastFailLimit } = options;
  const settings = createSettings(wiring, {
    host: named.host,
    ...(fastFailWindow === null ? {} : { fastFailWindow }),
    ...(fastFailLimit === null ? {} : { fastFailLimit }),
  });
  const say = (event: EventBody) => ports.events.emit({ ts: ports.clock.now().toISOString(), ...event });
  if (named.notice !== null) say({ type: "warning", message: named.notice });
  sweep(paths, say);
  if (options.once) return await passOnce(ports, settings, say);
  // The folder it was typed in may go while it supervises: a removed one makes every later spawn fail.
  process.chdir("/");
  const stop = untilSignalled();
  const lasting = around.output.lasting();
  say({ type: "up", network: paths.root, host: settings.host, pid: process.pid, version: VERSION });
  if (!options.keepHolds) await liftHolds(ports, settings, say);
  const { intervalMs } = options;
  const inCharge = await supervise(ports, { ...settings, intervalMs, inCharge: lock.confirm }, stop);
  lock.release();
  await lasting.flush(LAST_WORDS_MS);
  if (!inCharge) throw heldByAnother(paths, readSupervisor(paths)?.pid ?? null);
  return 0;
}

/** The lock, however long another supervisor has it. Throws where the network goes away meanwhile. */
async function waitForLock(paths: NetworkPaths, options: UpOptions, { output }: Around) {
  for (let said = false; ; said = true) {
    requireSomethingToSupervise(paths, options);
    const lock = await acquireSupervisorLock(paths, VERSION);
    if (lock.held) return lock;
    const who = lock.holder === null ? "another supervisor" : `the supervisor with pid ${lock.holder.pid}`;
    if (!said) output.note(`Waiting for ${who} to end, which holds ${paths.root}.`);
    do await systemClock.sleep(WAIT_MS);
    while (readSupervisor(paths) !== null);
  }
}

/** One pass happens at one time: its lines need none. */
function formOf({ json, once }: UpOptions): EventForm {
  if (json) return "json";
  return once ? "plain" : "timed";
}

/** What killed writers left behind: a nuisance, never a reason not to supervise. */
function sweep(paths: NetworkPaths, say: (event: EventBody) => void): void {
  try {
    sweepTemporaries(paths);
  } catch (error) {
    say({ type: "warning", message: messageOf(error) });
  }
}

/** Nothing is created where there is neither a catalog nor a ledger; a catalog that is gone is not made again. */
function requireSomethingToSupervise(paths: NetworkPaths, { networkFlag }: UpOptions): void {
  const { catalog, ledgers } = inspectNetwork(paths);
  if (!catalog && !ledgers)
    throw new ConvoyError(
      "not-found",
      `no network at ${paths.root}: it has neither a catalog nor anything that ran`,
      `convoy init${networkFlag === "" ? "" : ` ${paths.root}`}`,
    );
  if (catalog) createNetwork(paths);
}

async function passOnce(ports: PassPorts, settings: PassSettings, say: (event: EventBody) => void) {
  const { summary, exitCode } = await pass(ports, settings, "timer", nothingSaid());
  say(summary);
  return exitCode;
}

/** Resolves at the first INT, TERM or HUP; they end no agent. */
function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}

/** Decision 5: starting `up` lifts the holds and names them; an agent without a declaration stays held. */
async function liftHolds(ports: PassPorts, settings: PassSettings, say: (event: EventBody) => void) {
  if (Object.keys(await ports.registry.readHolds()).length === 0) return;
  const decision = decide(await observe(ports, settings, "timer"));
  const declared = decision.agents.filter(({ agent }) => agent.source !== "ledger");
  const lifted: EventBody[] = [];
  await ports.registry.changeHolds((holds) => {
    for (const { row } of declared) {
      if (holds[row.busId] === undefined) continue;
      delete holds[row.busId];
      lifted.push({ type: "released", identity: row.identity, busId: row.busId });
    }
  });
  for (const event of lifted) say(event);
}

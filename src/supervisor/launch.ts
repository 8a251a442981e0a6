/** Launches in order with bounded parallelism; recovery is the same function as the first launch. */
import { messageOf } from "../errors.ts";
import { restartGapMs } from "../foreign-restart.ts";
import type { Ledger } from "../ledger.ts";
import { nextLedger } from "../next-ledger.ts";
import type { LaunchOutcome, Outcomes } from "../settle.ts";
import { type Cap, settleLaunch } from "../settle.ts";
import type { LaunchAction } from "../world.ts";
import type { PassPorts, PassSettings } from "./ports.ts";
import { sayer } from "./say.ts";

/** Whether a pass should stop starting things: the supervisor is on its way out. */
export type Stopping = () => boolean;

/** How long a launch lets the one it comes after take: order, not a barrier. */
const ORDER_WAIT_MS = 1_000;

type Launched = Outcomes["launches"][number];

/**
 * Starts every action, at most `settings.parallel` at once, and accounts for each as its outcome is known.
 * `failed` are those that could not even be tried.
 */
export async function launchAll(
  ports: PassPorts,
  settings: PassSettings,
  actions: readonly LaunchAction[],
  failed: readonly Launched[],
  stopping: Stopping,
): Promise<Launched[]> {
  for (const { action, outcome } of failed) await account(ports, settings, action, outcome);
  if (actions.length === 0) return [...failed];
  const remains = await clearRemains(ports, settings, actions);
  const begun = new Map<string, Promise<void>>();
  const results: Launched[] = [...failed];
  const queue = [...actions];
  const worker = async () => {
    for (let action = queue.shift(); action !== undefined; action = queue.shift()) {
      if (stopping()) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (action.spec.main) begun.set(action.identity, promise);
      const before = action.after === null ? undefined : begun.get(action.after);
      if (before !== undefined && before !== promise)
        await Promise.race([before, ports.clock.sleep(ORDER_WAIT_MS)]);
      const outcome = remains.get(action.spec.name) ?? (await launchOne(ports, settings, action));
      resolve();
      results.push({ action, outcome });
      await account(ports, settings, action, outcome);
    }
  };
  await Promise.all(Array.from({ length: Math.min(settings.parallel, actions.length) }, worker));
  return results;
}

async function launchOne(
  ports: PassPorts,
  settings: PassSettings,
  action: LaunchAction,
): Promise<LaunchOutcome> {
  const { spec, declaration, tags, remains } = action;
  const gapMs = remains === null ? 0 : restartGapMs(remains, ports.clock.now());
  try {
    const request = { spec, declaration, baseEnv: settings.baseEnv, freshEnv: false, tags, gapMs };
    return await ports.launcher.launch(request);
  } catch (error) {
    return { result: "failed", error: messageOf(error) };
  }
}

/**
 * What the last run left of its process tree is ended by `down`'s routine before a respawn; what survives keeps its
 * session from being launched. A session that has come to life since the pass looked is left alone, and so are
 * processes of one that convoy has no file of: it is not launched beside them.
 */
async function clearRemains(
  ports: PassPorts,
  settings: PassSettings,
  actions: readonly LaunchAction[],
): Promise<Map<string, LaunchOutcome>> {
  const blocked = await findRunning(ports, actions);
  const dead = actions.flatMap(({ remains }) => (remains === null ? [] : [remains]));
  const looked = dead.map((session) => ({ name: session.name, session }));
  const leftovers = await ports.ender.findLeftovers(looked);
  if (leftovers.size === 0) return blocked;
  const now = new Map((await ports.registry.read()).sessions.map((session) => [session.name, session]));
  const ending = dead.filter(({ name }) => leftovers.has(name) && now.get(name)?.processAlive !== true);
  const reports = ending.length === 0 ? [] : await ports.ender.end(ending, settings.graceMs);
  const surviving = new Map(reports.map(({ session, survivors }) => [session, survivors]));
  for (const { spec, remains } of actions) {
    if (remains === null) continue;
    const { process } = now.get(remains.name) ?? { process: "not-ours" };
    const pids = (surviving.get(remains.name) ?? []).map(({ pid }) => pid);
    if (process !== "not-ours")
      blocked.set(spec.name, { result: "refused", reason: process === "ours" ? "alive" : "unknown" });
    else if (pids.length > 0) blocked.set(spec.name, { result: "survivors", pids });
  }
  return blocked;
}

/** Sessions without a file, of which processes run. */
async function findRunning(
  { registry }: PassPorts,
  actions: readonly LaunchAction[],
): Promise<Map<string, LaunchOutcome>> {
  const names = actions
    .map(({ spec }) => spec.name)
    .filter((name, at) => actions[at]?.remains?.name !== name);
  const outcomes = new Map<string, LaunchOutcome>();
  for (const { name, process, pid, childPid } of await registry.readUnlisted(names)) {
    const pids = [childPid, pid].filter((found) => found != null);
    const running = process === "ours";
    outcomes.set(name, running ? { result: "refused", reason: "alive" } : { result: "survivors", pids });
  }
  return outcomes;
}

async function account(
  ports: PassPorts,
  settings: PassSettings,
  action: LaunchAction,
  outcome: LaunchOutcome,
): Promise<void> {
  const now = ports.clock.now();
  const { events, patch } = settleLaunch(action, outcome, now, capOf(settings));
  const { name } = action.spec;
  if (patch !== null && outcome.result === "failed") {
    await ports.registry.changeLedger(name, (ledger) =>
      failedLedger(ports, settings, action, ledger, outcome.error),
    );
    await ports.registry.patchTags(name, patch.set, patch.remove);
  }
  const say = sayer(ports);
  for (const event of events) {
    say(event);
    if (event.type === "respawn" || event.type === "session_flapping")
      ports.events.appendToSession(name, { ...sessionEvent(event), session: name, ts: now.toISOString() });
  }
}

/** A launch that failed before anything was written is written down too: failures count (SUP-R12). */
function failedLedger(
  { clock, boot }: PassPorts,
  { baseEnv, version }: PassSettings,
  { spec, declaration, tags }: LaunchAction,
  found: Ledger | null,
  error: string,
): Ledger {
  if (found !== null) return { ...found, failedLaunch: true };
  const launch = { launchId: "", launchedAt: clock.now().toISOString(), version, boot };
  const ledger = nextLedger(null, { spec, declaration, baseEnv, freshEnv: false, tags }, launch);
  return { ...ledger, end: { exitCode: null, exitedAt: null, lastLines: [], error }, failedLaunch: true };
}

/** pty's own names for the two events that stand in a session's log too. */
function sessionEvent(
  event: { type: "respawn" } | { type: "session_flapping"; counter: number; limit: number; window: number },
) {
  if (event.type === "respawn") return { type: "session_respawn" };
  const { type, counter, limit, window } = event;
  return { type, counter, limit, window };
}

function capOf({ fastFailWindow, fastFailLimit }: PassSettings): Cap {
  return {
    ...(fastFailWindow === undefined ? {} : { windowSeconds: fastFailWindow }),
    ...(fastFailLimit === undefined ? {} : { limit: fastFailLimit }),
  };
}

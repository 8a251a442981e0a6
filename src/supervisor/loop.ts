/**
 * The loop: pass after pass, woken by the catalog, the registry, a death or the timer. A wake that arrives during a
 * pass is remembered as "again", never queued. Nothing kept here changes a decision.
 */
import { messageOf } from "../errors.ts";
import type { EventBody } from "../events.ts";
import type { ObservedSession } from "../session.ts";
import type { Trigger } from "../world.ts";
import { type PassResult, pass } from "./pass.ts";
import type { DeathWatchPort, PassPorts, PassSettings } from "./ports.ts";
import { nothingSaid } from "./said.ts";
import { type Say, sayer } from "./say.ts";

/** A folder's changes, as hints: the timer is the truth. `degraded` tells that no hints come any more. */
export interface Watcher {
  close(): void;
}
export type StartWatch = (onChange: () => void, onProblem: (message: string) => void) => Watcher;

export interface LoopPorts extends PassPorts {
  readonly watchCatalog: StartWatch;
  readonly watchRegistry: StartWatch;
  readonly deaths: DeathWatchPort;
}

export interface LoopSettings extends PassSettings {
  readonly intervalMs: number;
  /** Asked before each pass: false when another process supervises this network now. */
  readonly inCharge: () => boolean;
}

/** Several changes at once make one pass. */
const GATHER_MS = 10;
/**
 * An agent whose host is gone tells nobody of its end. While there is one it is looked at, soon at first, for most hear
 * of their terminal's end and go; then ever more seldom, up to this.
 */
const FIRST_LOOK_MS = 15;
const ORPHAN_LOOK_MS = 500;
/**
 * A host that is just dying can look as if nobody could tell, and is not heard of again. It is looked at like an
 * orphan, but only up to this: what cannot be told for longer is left to the timer.
 */
const MOST_UNKNOWN_LOOK_MS = 10_000;
/** Without hints from the registry folder, lost registry files must still be back within ten seconds. */
const BLIND_LOOK_MS = 5_000;

/**
 * Supervises until `stop` resolves, or until it is not in charge any more: then it gives false. Says how many sessions
 * are left running. Ends none.
 */
export async function supervise(
  ports: LoopPorts,
  settings: LoopSettings,
  stop: Promise<void>,
): Promise<boolean> {
  const say = sayer(ports);
  const wakes = new Wakes(settings.intervalMs);
  let stopping = false;
  let inCharge = true;
  void stop.then(() => {
    stopping = true;
    wakes.wake("timer");
  });
  const watchers = startWatchers(ports, wakes, say);
  const said = nothingSaid();
  const failure = sayWhenNew(say);
  const looks = { at: "", count: 0 };
  try {
    for (let trigger: Trigger = "timer"; !stopping; trigger = await wakes.next(GATHER_MS)) {
      const last = await tryPass(async () => {
        inCharge = settings.inCharge();
        return inCharge ? await pass(ports, settings, trigger, said, () => stopping) : null;
      }, failure);
      if (!inCharge) break;
      if (last === null) continue;
      watchDeaths(ports, wakes, last);
      wakes.lookAgainIn(lookAgainMs(last, watchers.blind(), looks));
    }
  } finally {
    watchers.close();
    wakes.close();
    ports.deaths.close();
  }
  say({ type: "detach", kept: countKept(await ports.registry.read().then((reading) => reading.sessions)) });
  return inCharge;
}

/** A pass that cannot read or write something ends nothing, the supervisor least of all: the timer tries again. */
async function tryPass(run: () => Promise<PassResult | null>, failure: (message: string | null) => void) {
  try {
    const result = await run();
    failure(null);
    return result;
  } catch (error) {
    failure(messageOf(error));
    return null;
  }
}

function sayWhenNew(say: Say): (message: string | null) => void {
  let last: string | null = null;
  return (message) => {
    if (message !== null && message !== last)
      say({ type: "warning", message: `this pass failed: ${message}` });
    last = message;
  };
}

function countKept(sessions: readonly ObservedSession[]): number {
  return sessions.filter((session) => session.status === "running").length;
}

function watchDeaths(ports: LoopPorts, wakes: Wakes, last: PassResult): void {
  const started = last.startedSessions;
  const living = last.world.sessions.filter((session) => session.status === "running");
  ports.deaths.watch([...living.map((session) => session.name), ...started], () => wakes.wake("event"));
}

/** When the next look is due that nothing else would wake; `looks` counts those `at` the same sessions. */
function lookAgainMs(
  { world }: PassResult,
  blind: boolean,
  looks: { at: string; count: number },
): number | null {
  const orphaned = world.sessions.some((session) => session.orphaned === true);
  const at = world.sessions
    .filter(
      ({ orphaned, process, starting }) => orphaned === true || process === "unknown" || starting === true,
    )
    .map(({ name, pid }) => `${name} ${pid ?? ""}`)
    .join();
  looks.count = at === looks.at ? looks.count + 1 : 0;
  looks.at = at;
  const delayMs = FIRST_LOOK_MS * 2 ** looks.count;
  if (orphaned) return Math.min(ORPHAN_LOOK_MS, delayMs);
  if (at !== "" && delayMs <= MOST_UNKNOWN_LOOK_MS) return delayMs;
  return blind ? BLIND_LOOK_MS : null;
}

function startWatchers(ports: LoopPorts, wakes: Wakes, say: Say) {
  let blind = false;
  const problem = (what: string) => (message: string) => {
    if (what === "registry") blind = true;
    say(watchWarning(what, message));
  };
  const wake = () => wakes.wake("event");
  const watchers = [
    ports.watchCatalog(wake, problem("catalog")),
    ports.watchRegistry(wake, problem("registry")),
  ];
  return {
    blind: () => blind,
    close: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

function watchWarning(what: string, message: string): EventBody {
  return {
    type: "warning",
    message: `changes of the ${what} folder are noticed by the timer only: ${message}`,
  };
}

/** The one pending wake, and the timers that make one. */
class Wakes {
  #pending: Trigger | null = null;
  #resolve: (() => void) | null = null;
  #timer: NodeJS.Timeout;
  #look: NodeJS.Timeout | null = null;

  constructor(intervalMs: number) {
    this.#timer = setInterval(() => this.wake("timer"), intervalMs);
  }

  wake(trigger: Trigger): void {
    if (this.#pending !== "timer") this.#pending = trigger;
    this.#resolve?.();
  }

  lookAgainIn(delayMs: number | null): void {
    if (this.#look !== null) clearTimeout(this.#look);
    this.#look = delayMs === null ? null : setTimeout(() => this.wake("event"), delayMs);
  }

  /** Waits for a wake, gathers what comes right behind it, and takes it. */
  async next(gatherMs: number): Promise<Trigger> {
    if (this.#pending === null) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
      this.#resolve = null;
    }
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    const trigger = this.#pending ?? "event";
    this.#pending = null;
    return trigger;
  }

  close(): void {
    clearInterval(this.#timer);
    this.lookAgainIn(null);
  }
}

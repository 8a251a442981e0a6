/** What a supervisor that was just started in the background makes of its network. */
import { listDocument } from "../agent-state.ts";
import { count } from "../count.ts";
import { decide } from "../decide.ts";
import { ConvoyError } from "../errors.ts";
import type { EventLogReader } from "../registry/event-log-reader.ts";
import { observe } from "../supervisor/observe.ts";
import type { NetworkPaths } from "../system/paths.ts";
import type { CommandContext } from "./command.ts";
import { createPorts, createSettings } from "./wiring.ts";

/** Longest wait for a first pass: what takes longer goes on in the background. */
const FIRST_PASS_MS = 10_000;
const LOOK_MS = 50;

export interface Starting {
  readonly paths: NetworkPaths;
  readonly pid: number;
  /** Of the network's own log, from before the start on. */
  readonly log: EventLogReader;
  readonly hasEnded: () => boolean;
}

/**
 * Waits until the first pass has nothing more to start, or the supervisor has ended, ten seconds at most. Resolves to a
 * line about the agents of this machine as they then are. Throws a `ConvoyError` where the network cannot be read.
 */
export async function describeFirstPass(
  { paths, pid, log, hasEnded }: Starting,
  { env, home }: Pick<CommandContext, "env" | "home">,
): Promise<string> {
  const wiring = { paths, env, home, show: () => {}, record: false };
  const ports = createPorts(wiring);
  const settings = createSettings(wiring);
  const deadline = performance.now() + FIRST_PASS_MS;
  let planned = false;
  while (true) {
    planned ||= log.read().events.some(({ type }) => type === "plan");
    const late = hasEnded() || performance.now() > deadline;
    if (planned || late) {
      const world = await observe(ports, settings, "event");
      const decision = decide(world);
      const { agents } = listDocument(world, decision, pid);
      const settled = decision.launches.length === 0 && agents.every(({ state }) => state !== "starting");
      if (late || settled) return describe(agents);
    }
    await Bun.sleep(LOOK_MS);
  }
}

/** `3 agents: 2 running, 1 flapping.` */
function describe(agents: readonly { readonly state: string }[]): string {
  const here = agents.filter(({ state }) => state !== "elsewhere");
  const states = new Map<string, number>();
  for (const { state } of here) states.set(state, (states.get(state) ?? 0) + 1);
  const each = [...states].map(([state, number]) => `${number} ${state}`);
  return here.length === 0 ? "No agents here." : `${count(here.length, "agent")}: ${each.join(", ")}.`;
}

/** As `describeFirstPass`, but a network that cannot be read is itself the line. */
export async function sayFirstPass(starting: Starting, around: Pick<CommandContext, "env" | "home">) {
  try {
    return await describeFirstPass(starting, around);
  } catch (error) {
    if (error instanceof ConvoyError) return `What runs cannot be told: ${error.message}.`;
    throw error;
  }
}

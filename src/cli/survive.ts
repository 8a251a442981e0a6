/**
 * `convoy doctor survive`: shows on a throw-away network, with this very binary, that the agents are the same processes
 * after each way in which a supervisor can end.
 */
import process from "node:process";
import { type Check, fail, pass, unknown } from "../doctor.ts";
import { messageOf } from "../errors.ts";
import type { ProcessIdentity } from "../session.ts";
import { VERSION } from "../version.ts";
import type { CommandContext } from "./command.ts";
import { printChecks } from "./doctor-output.ts";
import { serviceWays } from "./survive-service.ts";
import { AGENTS, signal, ThrowAway, waitFor } from "./throwaway.ts";

type Context = Omit<CommandContext, "args">;

/** A supervisor that runs, and how it is ended. */
export interface Way {
  readonly name: string;
  /** Starts it; resolves when it is on its way. Text: why this way cannot be tried here. */
  start(network: ThrowAway): Promise<Running | string>;
}
interface Running {
  end(supervisor: number): void | Promise<void>;
  /** What is left to be done when it has ended. */
  after?(): Promise<void>;
}

const TIMEOUT_MS = 30_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL"] as const;

const WAYS: readonly Way[] = [
  ...SIGNALS.map((name): Way => {
    return {
      name: name === "SIGINT" ? "INT (Ctrl-C)" : name.slice(3),
      async start(network) {
        const child = network.spawnSupervisor();
        return { end: () => signal(child.pid, name) };
      },
    };
  }),
  {
    name: "its terminal closed",
    async start(network) {
      const child = network.spawnShell("terminal");
      return { end: () => child.terminal?.close() };
    },
  },
  {
    name: "its process group killed",
    async start(network) {
      const child = network.spawnShell("group");
      return { end: () => signal(-child.pid, "SIGKILL") };
    },
  },
  {
    name: "detached, and killed",
    async start(network) {
      await network.convoy("up", "--detach");
      return { end: (pid) => signal(pid, "SIGKILL") };
    },
  },
];

/** Resolves to the exit code. */
export async function runSurvive({ env, json, output }: Context): Promise<number> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const progress = output.progress("making a throw-away network");
  const checks: Check[] = [];
  for (const left of ThrowAway.abandoned(env))
    checks.push(...(await cleanUp(left, "clean-up of a former run")));
  const network = ThrowAway.create(env);
  try {
    await tryWays(network, [...WAYS, ...serviceWays(env)], checks, stop.signal, (text) =>
      progress.update(text),
    );
  } catch (error) {
    checks.push(fail("survive", messageOf(error), "convoy doctor survive"));
  } finally {
    progress.update("cleaning up");
    checks.push(...(await cleanUp(network, "clean-up")));
    progress.stop();
  }
  return printChecks(checks, { type: "survive", network: network.root, version: VERSION }, json, output);
}

async function tryWays(
  network: ThrowAway,
  ways: readonly Way[],
  checks: Check[],
  stop: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  let before: readonly ProcessIdentity[] | null = null;
  for (const [index, way] of ways.entries()) {
    say(`${index + 1} of ${ways.length}: ${way.name}`);
    const tried = await tryWay(network, way, before, stop);
    before ??= tried.agents;
    checks.push(tried.check);
  }
}

interface Tried {
  readonly check: Check;
  readonly agents: readonly ProcessIdentity[] | null;
}

/** `before`: the agents' processes as every way must leave them; null before the first has started them. */
async function tryWay(
  network: ThrowAway,
  way: Way,
  before: readonly ProcessIdentity[] | null,
  stop: AbortSignal,
): Promise<Tried> {
  const running = await way.start(network);
  if (typeof running === "string") return { check: unknown(way.name, running), agents: null };
  const supervisor = await waitFor(() => network.supervisor(), stop, TIMEOUT_MS);
  if (supervisor === null)
    return { check: fail(way.name, "no supervisor came up", "convoy doctor"), agents: null };
  const agents = await waitFor(async () => allOf(await network.agents()), stop, TIMEOUT_MS);
  await running.end(supervisor);
  const ended = await waitFor(() => (network.supervisor() === supervisor ? null : true), stop, TIMEOUT_MS);
  const check =
    agents === null
      ? fail(way.name, `not every agent runs: ${AGENTS.join(", ")}`, "convoy doctor")
      : ended === null
        ? fail(way.name, `the supervisor, pid ${supervisor}, did not end`, `ps -p ${supervisor}`)
        : await judge(network, way, agents, before ?? agents, stop);
  await running.after?.();
  return { check, agents };
}

/** The same processes, and two more life signs of each. */
async function judge(
  network: ThrowAway,
  way: Way,
  agents: readonly ProcessIdentity[],
  before: readonly ProcessIdentity[],
  stop: AbortSignal,
): Promise<Check> {
  const beats = network.beats();
  const beating = await waitFor(
    () => (network.beats().every((now, index) => now >= beats[index]! + 2) ? true : null),
    stop,
    TIMEOUT_MS,
  );
  const after = await network.agents();
  const same = [agents, after].every((now) => now.every((one, index) => isSame(one, before[index]!)));
  const pids = before.map(({ pid }) => pid).join(", ");
  if (same && beating !== null) return pass(way.name, `the agents live on: pids ${pids}`);
  const now = after.map((one) => one?.pid ?? "gone").join(", ");
  return fail(
    way.name,
    same ? `the agents, pids ${pids}, stand still` : `the agents were pids ${pids}, and are ${now}`,
    "convoy doctor names what ends processes here; until it is mended: convoy service install",
  );
}

async function cleanUp(network: ThrowAway, name: string): Promise<Check[]> {
  try {
    const left = await network.remove();
    if (left === null) return [pass(name, `${network.root} is gone, and all that ran in it`)];
    return [fail(name, left, `convoy down --network ${network.root}, then rm -r ${network.root}`)];
  } catch (error) {
    return [
      fail(name, messageOf(error), `convoy down --network ${network.root}, then rm -r ${network.root}`),
    ];
  }
}

function allOf(agents: readonly (ProcessIdentity | null)[]): readonly ProcessIdentity[] | null {
  return agents.every((one) => one !== null) ? agents : null;
}

function isSame(one: ProcessIdentity | null, other: ProcessIdentity): boolean {
  return one?.pid === other.pid && one.start === other.start;
}

/** `convoy restart`: ends an agent by `down`'s routine and launches it again from its declaration as it now is. */
import { decide } from "../decide.ts";
import { identityIn } from "../down-plan.ts";
import { ConvoyError } from "../errors.ts";
import type { ConvoyEvent } from "../events.ts";
import { ACCOUNTING_TAGS } from "../flapping-cap.ts";
import { liveOf } from "../reconcile.ts";
import type { ObservedSession } from "../session.ts";
import { act } from "../supervisor/act.ts";
import { observe } from "../supervisor/observe.ts";
import { nothingSaid } from "../supervisor/said.ts";
import type { AgentDecision, Decision } from "../world.ts";
import { findAgent } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { findInside } from "./inside.ts";
import { type Look, lookAt } from "./look.ts";

export interface RestartArguments {
  readonly agent: string;
  readonly grace: number | null;
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code: 0 when it runs again. */
export async function runRestart(args: RestartArguments, context: Context): Promise<number> {
  const events: ConvoyEvent[] = [];
  const look = await lookAt(context, (event) => events.push(event));
  const { busId } = findAgent(look, args.agent);
  const before = restartable(look.decision, busId);
  const inside = findInside(targetsOf(before), look.paths, context.env);
  if (inside !== null)
    throw new ConvoyError(
      "usage",
      `this is typed inside ${inside.identity}; nothing was ended`,
      "type it elsewhere",
    );
  await prepare(look, before);
  const graceMs = (args.grace ?? look.settings.graceMs / 1_000) * 1_000;
  await end(look, before, graceMs);
  const outcome = await launchAgain(look, busId);
  if (outcome !== null) throw new ConvoyError("failed", outcome, `convoy ls`);
  const after = (await nowRunning(look, busId)) ?? before;
  const row = { identity: before.row.identity, busId, session: after.main?.name ?? null };
  const pids = { pidBefore: before.main?.childPid ?? null, pid: after.main?.childPid ?? null };
  if (context.json)
    context.output.document({ type: "restart", network: look.paths.root, ...row, ...pids, events });
  else context.output.out(`${row.session ?? row.identity} restarted: ${describePids(pids)}`);
  return 0;
}

/** Whoever was quicker, this command or a running supervisor, has started it: what runs now is what is told. */
async function nowRunning({ ports, settings }: Look, busId: string): Promise<AgentDecision | null> {
  const { agents } = decide(await observe(ports, settings, "timer"));
  return agents.find(({ row }) => row.busId === busId) ?? null;
}

function describePids({ pidBefore, pid }: { pidBefore: number | null; pid: number | null }): string {
  const now = pid === null ? "it is starting" : `pid ${pid}`;
  return pidBefore === null ? `${now}, it did not run before` : `${now}, was pid ${pidBefore}`;
}

function restartable(decision: Decision, busId: string): AgentDecision {
  const found = decision.agents.find(({ row }) => row.busId === busId);
  const identity = identityIn(busId);
  if (found === undefined)
    throw new ConvoyError(
      "failed",
      `${identity} has no declaration to launch it from`,
      `convoy add worker --identity ${identity}`,
    );
  const { row, agent } = found;
  if (row.disposition === "otherHost")
    throw new ConvoyError("failed", `${identity} is ${row.reason}`, "restart it there");
  if (agent.entry.declaration.retired)
    throw new ConvoyError("failed", `${identity} is retired`, `convoy unretire ${identity}`);
  if (row.blocked === "conflict") throw new ConvoyError("failed", row.reason, "convoy validate");
  if (row.blocked === "unknown")
    throw new ConvoyError(
      "failed",
      `cannot tell whether ${identity} lives, so it is not touched`,
      "convoy ls",
    );
  if (row.blocked === "waiting") throw new ConvoyError("failed", `${identity} ${row.reason}`, "convoy plan");
  return found;
}

/** Before anything ends: no failures counted, no hold, and the environment that this command is typed in. */
async function prepare({ ports, settings }: Look, { row, sessions }: AgentDecision): Promise<void> {
  await ports.registry.changeHolds((holds) => {
    delete holds[row.busId];
  });
  for (const session of sessions) {
    if (session.record != null || session.ledger != null)
      await ports.registry.patchTags(session.name, {}, ACCOUNTING_TAGS);
    await ports.registry.changeLedger(
      session.name,
      (ledger) => ledger && { ...ledger, endedBy: "restart", baseEnv: settings.baseEnv, failedLaunch: false },
    );
  }
}

async function end({ ports }: Look, { sessions }: AgentDecision, graceMs: number): Promise<void> {
  for (const { session, result, survivors } of await ports.ender.end(liveOf(sessions), graceMs)) {
    const pids = survivors.map(({ pid }) => pid).join(", ");
    if (result === "unknown")
      throw new ConvoyError(
        "failed",
        `${session} is not started again: cannot tell whether what its ledger names is its own, so nothing of it was touched`,
        "convoy ls",
      );
    if (result === "survived")
      throw new ConvoyError(
        "failed",
        `${session} is not started again: processes ${pids} survive`,
        `ps -fp ${pids}`,
      );
  }
}

/** The agent's part of a pass. Null when it runs, else what kept it from running. */
async function launchAgain({ ports, settings }: Look, busId: string): Promise<string | null> {
  const world = await observe(ports, settings, "timer");
  const decision = decide(world);
  const launches = decision.launches.filter((launch) => launch.busId === busId);
  const own = {
    ...decision,
    deaths: [],
    teardowns: [],
    parks: [],
    nudges: [],
    updates: [],
    retags: [],
    launches,
  };
  const outcomes = await act(ports, settings, world, own, nothingSaid(), () => false);
  const failed = outcomes.launches.find(({ action, outcome }) => action.spec.main && !isRunning(outcome));
  if (failed !== undefined) return describeOutcome(failed.outcome);
  const row = decision.agents.find((agent) => agent.row.busId === busId)?.row;
  if (launches.length === 0 && row?.disposition !== "adopt")
    return `${row?.identity ?? busId}: ${row?.reason}`;
  return null;
}

type Outcome = Awaited<ReturnType<typeof act>>["launches"][number]["outcome"];

/** A supervisor that was quicker has started it: that is what was asked for. */
function isRunning(outcome: Outcome): boolean {
  if (outcome.result === "refused") return outcome.reason === "alive";
  return outcome.result === "started" || outcome.result === "starting";
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.result === "failed") return outcome.error;
  if (outcome.result === "survivors") return `processes ${outcome.pids.join(", ")} of its last run survive`;
  return outcome.result === "refused" ? `it was not launched: ${outcome.reason}` : outcome.result;
}

function targetsOf({ row, sessions }: AgentDecision) {
  return sessions.map((session: ObservedSession) => ({ identity: row.identity, busId: row.busId, session }));
}

/** `convoy down`: what is asked for, whether it is typed inside, what came of it. */
import process from "node:process";
import { count } from "../count.ts";
import { type DownPlan, type DownTarget, identityIn } from "../down-plan.ts";
import { ConvoyError } from "../errors.ts";
import { down, downPlanOf } from "../supervisor/down.ts";
import type { EndReport } from "../supervisor/ports.ts";
import { formatTable } from "../table.ts";
import { findBusIds } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { findInside, hasOwnHost, letOwnHostEnd } from "./inside.ts";
import { type Look, lookAt } from "./look.ts";
import { networkFlag } from "./network.ts";

export interface DownArguments {
  readonly agent: readonly string[];
  readonly "dry-run": boolean;
  readonly grace: number | null;
  readonly "including-self": boolean;
}

/** A row of `down --json`. */
interface DownRow {
  readonly identity: string;
  readonly session: string;
  readonly pid: number | null;
  /** `would end` in a dry run; `ending` for the session it is typed in; else what came of it. */
  readonly result: EndReport["result"] | "would end" | "ending";
  readonly survivors: EndReport["survivors"];
}

const FAILED: ReadonlySet<DownRow["result"]> = new Set(["survived", "unknown"]);

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code: 0 when nothing of what was asked about lives, 1 when something does. */
export async function runDown(args: DownArguments, context: Context): Promise<number> {
  const look = await lookAt(context);
  const only = args.agent.length === 0 ? null : new Set(args.agent.flatMap((ref) => findBusIds(look, ref)));
  const plan = await downPlanOf(look.ports, look.world, only);
  const telling = { context, look, asked: only, dryRun: args["dry-run"] };
  if (args["dry-run"]) return report(plan, plan.targets.map(wouldEnd), telling);
  const inside = findInside(plan.targets, look.paths, context.env);
  if (inside !== null && !args["including-self"]) throw refuseInside(inside);
  const progress = context.output.progress(`ending ${count(plan.targets.length, "session")}`);
  const graceMs = (args.grace ?? look.settings.graceMs / 1_000) * 1_000;
  const settings = { ...look.settings, graceMs };
  const spare = new Set(inside === null ? [] : [inside.session.name]);
  const done = await down(look.ports, settings, { only, by: `down (pid ${process.pid})`, spare }, plan);
  progress.stop();
  const own = inside === null ? null : await endAround(inside, look);
  const rows = done.plan.targets.map((target) =>
    target.session.name === own?.session ? own : rowOf(target, done.reports.get(target.session.name)),
  );
  const code = report(done.plan, rows, telling);
  if (inside !== null) letOwnHostEnd(inside);
  return code;
}

/**
 * The session that this is typed in: everything of its process tree but this command and what is above it, which its own
 * host ends. Without a host nobody does, and it survives.
 */
async function endAround(inside: DownTarget, look: Look): Promise<DownRow> {
  const { identity, session } = inside;
  const { ports, settings } = look;
  const marked = { host: "not-ours", child: "not-ours", process: "not-ours", processAlive: false } as const;
  const around = { ...session, ...marked, ledger: null, pid: null, childPid: null };
  const [report] = await ports.ender.end([around], settings.graceMs);
  const pid = session.childPid ?? null;
  const survivors = report?.survivors ?? [];
  if (hasOwnHost(inside)) {
    return {
      identity,
      session: session.name,
      pid,
      result: survivors.length > 0 ? "survived" : "ending",
      survivors,
    };
  }
  const itself = pid === null ? [] : [{ pid, name: session.command }];
  return { identity, session: session.name, pid, result: "survived", survivors: [...itself, ...survivors] };
}

function wouldEnd({ identity, session }: DownTarget): DownRow {
  const pid = session.childPid ?? null;
  const result = session.process === "unknown" ? "unknown" : "would end";
  return { identity, session: session.name, pid, result, survivors: [] };
}

function rowOf({ identity, session }: DownTarget, end: EndReport | undefined): DownRow {
  const pid = end?.pid ?? session.childPid ?? null;
  const survivors = end?.survivors ?? [];
  return { identity, session: session.name, pid, result: end?.result ?? "unknown", survivors };
}

interface Telling {
  readonly context: Context;
  readonly look: Look;
  /** Bus ids; null when the whole network was meant. */
  readonly asked: ReadonlySet<string> | null;
  readonly dryRun: boolean;
}

function report(plan: DownPlan, rows: readonly DownRow[], { context, look, asked, dryRun }: Telling): number {
  const { output, json, network } = context;
  const failed = dryRun ? 0 : rows.filter(({ result }) => FAILED.has(result)).length;
  const ending = rows.filter(({ result }) => result === "ending").length;
  const stopped = dryRun ? 0 : rows.length - failed - ending;
  if (json) {
    const sessions = rows.map(({ identity, session, pid, result }) => ({ identity, session, pid, result }));
    output.document({
      type: "down",
      network: look.paths.root,
      dryRun,
      planned: rows.length,
      stopped,
      failed,
      sessions,
    });
  } else {
    printRows(rows, output);
  }
  for (const row of rows) complain(row, output);
  const flag = networkFlag(network());
  if (rows.length === 0) output.note(`Nothing to end: ${describeNothing(asked)}.`);
  else if (dryRun) output.note(`Would end ${count(rows.length, "session")}; nothing was changed.`);
  else output.note(`Ended ${stopped} of ${count(rows.length, "session")}.`);
  if (ending > 0) output.note("The one that this is typed in is ended by its own host, now.");
  if (plan.held.length > 0 && !dryRun)
    output.note(
      `Held: ${count(plan.held.length, "agent")}. To let ${plan.held.length === 1 ? "it" : "them"} run again: convoy release${flag}`,
    );
  return failed > 0 ? 1 : 0;
}

function describeNothing(asked: Telling["asked"]): string {
  if (asked === null) return "no agent of this network runs here";
  const names = [...asked].map(identityIn).join(", ");
  return asked.size === 1 ? `${names} does not run` : `none of ${names} runs`;
}

function printRows(rows: readonly DownRow[], output: Context["output"]): void {
  if (rows.length === 0) return;
  const cells = rows.map(({ identity, session, pid, result }) => [
    identity,
    session,
    String(pid ?? "-"),
    result,
  ]);
  const table = [["AGENT", "SESSION", "PID", "RESULT"], ...cells];
  for (const line of formatTable(table, { width: output.width })) output.out(line);
}

function complain({ session, result, survivors }: DownRow, output: Context["output"]): void {
  if (result === "unknown")
    output.error(
      `cannot tell whether ${session} lives, so nothing of it was touched`,
      "look at it: convoy ls",
    );
  for (const { pid, name } of survivors)
    output.error(`${session}: process ${pid} (${name}) survives`, `look at it: ps -fp ${pid}`);
}

function refuseInside({ identity }: DownTarget): ConvoyError {
  return new ConvoyError(
    "usage",
    `this is typed inside ${identity}, which it would end; nothing was ended`,
    "type it elsewhere, or add --including-self",
  );
}

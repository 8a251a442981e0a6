/** `convoy reset`: un-parks, by removing the accounting tags from record and ledger. */
import { identityIn } from "../down-plan.ts";
import { ConvoyError } from "../errors.ts";
import { ACCOUNTING_TAGS, FLAPPING, STATUS_TAG } from "../flapping-cap.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import type { ObservedSession } from "../session.ts";
import { busIdAccessor } from "../sessions-of.ts";
import { findBusIds } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { type Look, lookAt } from "./look.ts";
import { networkFlag } from "./network.ts";

export interface ResetArguments {
  readonly agent: readonly string[];
  readonly all: boolean;
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. */
export async function runReset(args: ResetArguments, context: Context): Promise<number> {
  if (args.all === args.agent.length > 0)
    throw new ConvoyError("usage", "reset: name the agents, or give --all", "convoy reset --help");
  const look = await lookAt(context);
  const busIds = args.all ? null : new Set(args.agent.flatMap((ref) => findBusIds(look, ref)));
  const rows = sessionsOf(look, busIds);
  const reset: { identity: string; session: string; parked: boolean }[] = [];
  for (const { busId, session } of rows) {
    if (!isCounted(session)) continue;
    await clear(look, session);
    reset.push({ identity: identityIn(busId), session: session.name, parked: isParked(session) });
  }
  const { output, json } = context;
  if (json) output.document({ type: "reset", network: look.paths.root, sessions: reset });
  else
    for (const { session, parked } of reset)
      output.out(`${session}: ${parked ? "no longer parked" : "count cleared"}`);
  if (reset.length === 0) output.note("Nothing to reset: no failures are counted.");
  else if (readSupervisor(look.paths) === null)
    output.note(`No supervisor runs; to start them: convoy up${networkFlag(context.network())}`);
  return 0;
}

function sessionsOf({ world }: Look, busIds: ReadonlySet<string> | null) {
  const accessor = busIdAccessor(world.inForce, world.host);
  const owned = world.sessions.map((session) => ({ session, busId: accessor(session) }));
  return owned.filter(
    (row): row is { session: ObservedSession; busId: string } =>
      row.busId !== null && (busIds === null || busIds.has(row.busId)),
  );
}

function isCounted({ tags, ledger }: ObservedSession): boolean {
  const counted = (found: Readonly<Record<string, string>>) =>
    ACCOUNTING_TAGS.some((tag) => found[tag] !== undefined);
  return counted(tags) || (ledger != null && (counted(ledger.tags) || ledger.failedLaunch));
}

function isParked({ tags }: ObservedSession): boolean {
  return tags[STATUS_TAG] === FLAPPING;
}

/** The ledger first: its mark of a failed launch goes before the record tells a supervisor to look. */
async function clear({ ports }: Look, { name }: ObservedSession): Promise<void> {
  await ports.registry.changeLedger(name, (ledger) => ledger && { ...ledger, failedLaunch: false });
  await ports.registry.patchTags(name, {}, ACCOUNTING_TAGS);
}

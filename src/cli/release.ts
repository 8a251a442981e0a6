/** `convoy release`: lifts the holds that `down` left. */
import { identityIn } from "../down-plan.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { findBusIds } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { type Look, lookAt } from "./look.ts";
import { networkFlag } from "./network.ts";

export interface ReleaseArguments {
  readonly agent: readonly string[];
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code; nothing held is no failure. */
export async function runRelease(args: ReleaseArguments, context: Context): Promise<number> {
  const look = await lookAt(context);
  const { holds } = look.world;
  const wanted = args.agent.flatMap((ref) => (ref in holds ? [ref] : findBusIds(look, ref)));
  const released = Object.keys(holds).filter((busId) => wanted.length === 0 || wanted.includes(busId));
  await resumeUndeclared(look, released);
  await look.ports.registry.changeHolds((held) => {
    for (const busId of released) delete held[busId];
  });
  tell(look, released);
  const { output, json } = context;
  if (json) output.document({ type: "release", network: look.paths.root, released: released.sort() });
  else for (const busId of released.sort()) output.out(`${identityIn(busId)}: no longer held`);
  for (const busId of wanted.filter((one) => !released.includes(one)))
    output.note(`${identityIn(busId)} was not held.`);
  if (wanted.length === 0 && released.length === 0) output.note("Nothing is held.");
  if (released.length > 0 && readSupervisor(look.paths) === null)
    output.note(`No supervisor runs; to start them: convoy up${networkFlag(context.network())}`);
  return 0;
}

/** An agent that no file declares is recovered only if nobody ended it on purpose: letting it run again undoes that. */
async function resumeUndeclared({ ports, world }: Look, released: readonly string[]): Promise<void> {
  for (const { name, ledger } of world.sessions) {
    if (ledger?.endedBy !== "down" || !released.includes(ledger.agent)) continue;
    if (!world.inForce.undeclared.has(ledger.agent)) continue;
    await ports.registry.changeLedger(name, (found) => found && { ...found, endedBy: "restart" });
  }
}

function tell({ ports }: Look, released: readonly string[]): void {
  const ts = ports.clock.now().toISOString();
  for (const busId of released)
    ports.events.emit({ ts, type: "released", identity: identityIn(busId), busId });
}

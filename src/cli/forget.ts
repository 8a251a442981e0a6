/** `convoy forget`: drops record and ledger of an agent that has no declaration and is not running. */
import { ConvoyError } from "../errors.ts";
import { busIdAccessor } from "../sessions-of.ts";
import { findAgent } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { lookAt } from "./look.ts";

export interface ForgetArguments {
  readonly agent: string;
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. */
export async function runForget(args: ForgetArguments, context: Context): Promise<number> {
  const look = await lookAt(context);
  const { busId, identity } = findAgent(look, args.agent);
  const declared = look.world.inForce.agents.find(
    (agent) => agent.busId === busId && agent.source !== "ledger",
  );
  if (declared !== undefined)
    throw new ConvoyError(
      "failed",
      `${identity} is declared in ${declared.entry.path}`,
      "remove that file first, on every machine that syncs it",
    );
  const accessor = busIdAccessor(look.world.inForce, look.world.host);
  const names = look.world.sessions.filter((session) => accessor(session) === busId).map(({ name }) => name);
  const forgotten: string[] = [];
  for (const name of names) {
    const { result, ...rest } = await look.ports.forget(name);
    if (result === "refused" && "reason" in rest) throw refused(identity, name, rest.reason);
    if (result === "forgotten") forgotten.push(name);
  }
  await look.ports.registry.changeHolds((holds) => {
    delete holds[busId];
  });
  if (context.json)
    context.output.document({ type: "forget", network: look.paths.root, busId, sessions: forgotten });
  else for (const name of forgotten) context.output.out(`${name}: forgotten`);
  return 0;
}

function refused(identity: string, session: string, reason: "alive" | "unknown"): ConvoyError {
  const message = reason === "alive" ? `${session} still runs` : `cannot tell whether ${session} lives`;
  return new ConvoyError("failed", message, `convoy down --agent ${identity}`);
}

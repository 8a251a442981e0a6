/** `convoy retire` and `unretire`: one member of one declaration, and what comes of it. */
import { join } from "node:path";
import { setRetired } from "../catalog/edit.ts";
import { findDeclaration } from "../declared-agents.ts";
import { ConvoyError } from "../errors.ts";
import { type AgentInForce, agentHere } from "../in-force.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import type { CommandContext } from "./command.ts";
import { type Declared, readDeclared } from "./declared.ts";
import { networkFlag } from "./network.ts";

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code: 0 also when the declaration says so already. */
export async function runRetire(ref: string, retired: boolean, context: Context): Promise<number> {
  const declared = await readDeclared(context);
  const agent = requireDeclaration(ref, retired, declared, context);
  const { path, declaration } = agent.entry;
  const { identity } = declaration;
  const file = join(declared.paths.catalog, path);
  const edit = await setRetired(file, retired);
  if (edit.kind === "refused") {
    const where = edit.line === null ? path : `${path}:${edit.line}`;
    throw new ConvoyError("failed", `${where} ${edit.message}`);
  }
  const changed = edit.kind === "changed";
  const { output, json } = context;
  if (json) {
    const { root } = declared.paths;
    output.document({ network: root, identity, busId: agent.busId, path, file, retired, changed });
    return 0;
  }
  output.out(file);
  if (!changed)
    output.note(`${identity} is ${retired ? "retired already" : "not retired"}: nothing to change.`);
  else {
    output.note(`${identity} is ${retired ? "retired" : "no longer retired"}.`);
    output.note(whatFollows(agent, retired, declared, networkFlag(context.network())));
  }
  return 0;
}

function requireDeclaration(
  ref: string,
  retired: boolean,
  { paths, catalog, inForce }: Declared,
  context: Context,
): AgentInForce {
  const found = findDeclaration(ref, catalog, inForce);
  const flag = networkFlag(context.network());
  switch (found.kind) {
    case "found":
      return found.agent;
    case "frozen": {
      const verb = retired ? "retire" : "unretire";
      const next = found.next === null ? `convoy validate${flag}` : `${found.next}${flag}`;
      throw new ConvoyError("failed", `cannot ${verb} ${ref}: ${found.message}`, next);
    }
    case "ambiguous":
      throw new ConvoyError("usage", `"${ref}" names more than one agent: ${found.busIds.join(", ")}`);
    case "unknown": {
      const hint = found.nearest === null ? "" : `; did you mean ${found.nearest}?`;
      const message = `no agent "${ref}" is declared in ${paths.catalog}${hint}`;
      throw new ConvoyError("not-found", message, `convoy ls${flag}`);
    }
  }
}

function whatFollows(agent: AgentInForce, retired: boolean, { paths, host }: Declared, flag: string): string {
  const act = retired ? "ends" : "starts";
  if (!agentHere(agent, host)) {
    const elsewhere = agent.entry.declaration.host ?? "another machine";
    return `A supervisor on ${elsewhere} ${act} it once the file has reached that machine.`;
  }
  const supervisor = readSupervisor(paths);
  if (supervisor !== null)
    return `The supervisor (pid ${supervisor.pid}) ${act} it now${retired ? "" : ", unless it is held"}.`;
  return retired
    ? `No supervisor runs; to end what runs of it: convoy up --once${flag}`
    : `No supervisor runs; to start it: convoy up${flag}`;
}

/** `<agent>` on the command line: an identity, a bus id or a session id. */
import { identityIn } from "../down-plan.ts";
import { ConvoyError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { busIdAccessor } from "../sessions-of.ts";
import type { Look } from "./look.ts";

export interface AgentRef {
  readonly identity: string;
  readonly busId: string;
}

/** Throws "not-found", with the nearest name. */
export function findAgent({ world, paths }: Look, ref: string): AgentRef {
  const accessor = busIdAccessor(world.inForce, world.host);
  const names = new Map<string, string>();
  for (const session of world.sessions) {
    const busId = accessor(session);
    if (busId === null) continue;
    for (const name of [session.name, busId, identityIn(busId)]) names.set(name, busId);
  }
  for (const { busId, entry, specs } of world.inForce.agents)
    for (const name of [...specs.map((spec) => spec.name), busId, entry.declaration.identity])
      names.set(name, busId);
  const busId = names.get(ref);
  if (busId !== undefined) return { identity: identityIn(busId), busId };
  const meant = nearest(ref, [...names.keys()]);
  const hint = meant === null ? "" : `; did you mean ${meant}?`;
  throw new ConvoyError("not-found", `no agent "${ref}" in ${paths.root}${hint}`, "convoy ls");
}

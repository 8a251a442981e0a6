/** One pass: observe, decide, act, settle. `up --once` is this file called once; the loop calls it again and again. */
import { decide } from "../decide.ts";
import { planDocument } from "../plan-document.ts";
import { type Settlement, settle } from "../settle.ts";
import type { Decision, Trigger, World } from "../world.ts";
import { act } from "./act.ts";
import type { Stopping } from "./launch.ts";
import { observe } from "./observe.ts";
import type { PassPorts, PassSettings } from "./ports.ts";
import { runKey, type Said, sayDecision } from "./said.ts";
import { sayer } from "./say.ts";

export interface PassResult extends Settlement {
  readonly world: World;
  readonly decision: Decision;
  readonly startedSessions: readonly string[];
}

/** `said` only keeps the same thing from being said twice by one process: it changes no decision. */
export async function pass(
  ports: PassPorts,
  settings: PassSettings,
  trigger: Trigger,
  said: Said,
  stopping: Stopping = () => false,
): Promise<PassResult> {
  const world = await observe(ports, settings, trigger);
  const decision = decide(world);
  sayDecision(planDocument(world, decision), world, decision, said, sayer(ports));
  const outcomes = await act(ports, settings, world, decision, said, stopping);
  const startedSessions: string[] = [];
  for (const { action, outcome } of outcomes.launches) {
    if (!("hostPid" in outcome)) continue;
    startedSessions.push(action.spec.name);
    said.adopted.add(runKey(action.spec.name, outcome.hostPid));
  }
  return { world, startedSessions, decision, ...settle(decision, outcomes) };
}

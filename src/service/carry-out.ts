/** Carries out the steps of an installation or of a removal, one after the other. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ConvoyError, messageOf } from "../errors.ts";
import type { ServiceRun } from "../service-status.ts";
import type { ServiceStep } from "../service-steps.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { systemClock } from "../system/clock.ts";
import { effect } from "../system/effects.ts";
import { removeFile } from "../system/remove-file.ts";
import { faultOf, runProgram } from "./program.ts";

const PAUSE_MS = 1_000;

export interface CarryingOut {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks the manager for the service as it is now. */
  look(): Promise<ServiceRun | { readonly problem: string }>;
  onStep(step: ServiceStep): void;
}

/** Resolves to what failed of the optional steps. Throws a `ConvoyError` where another one fails. */
export async function carryOut(steps: readonly ServiceStep[], around: CarryingOut): Promise<string[]> {
  const problems: string[] = [];
  for (const step of steps) {
    around.onStep(step);
    const problem = await carryOutOne(step, around);
    if (problem === null) continue;
    if (step.kind !== "run" || step.optional !== true)
      throw new ConvoyError("failed", problem, "convoy service status");
    problems.push(problem);
  }
  return problems;
}

async function carryOutOne(step: ServiceStep, around: CarryingOut): Promise<string | null> {
  switch (step.kind) {
    case "write":
      return attempt(`cannot write ${step.path}`, () => writeUnit(step.path, step.text));
    case "remove":
      return attempt(`cannot remove ${step.path}`, () => removeUnit(step.path));
    case "check-spares":
      return await refusal(around);
    case "run":
      return await runStep(step, around);
  }
}

function attempt(what: string, act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return `${what}: ${messageOf(error)}`;
  }
}

/** For everybody to read, as units are: there is no secret in it. */
function writeUnit(path: string, text: string): void {
  if (mkdirSync(dirname(path), { recursive: true }) !== undefined) effect("folder-create");
  writeFileAtomic(path, text, { mode: 0o644 });
  effect("unit-write");
}

function removeUnit(path: string): void {
  removeFile(path);
  effect("unit-remove");
}

async function refusal({ look }: CarryingOut): Promise<string | null> {
  const run = await look();
  if ("problem" in run) return run.problem;
  return run.spares === false
    ? "nothing was stopped: that would end every agent, its KillMode is not process"
    : null;
}

async function runStep(step: ServiceStep & { kind: "run" }, { env }: CarryingOut): Promise<string | null> {
  for (let left = step.tries ?? 1; ; left--) {
    const answer = await runProgram(step.words, env);
    effect("service-change");
    if (!("problem" in answer) && answer.code === 0) return null;
    if (left <= 1) return "problem" in answer ? answer.problem : faultOf(step.words, answer);
    await systemClock.sleep(PAUSE_MS);
  }
}

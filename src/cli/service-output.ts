/** What `convoy service` prints: steps, the state of a service, what is wrong with it. */
import { existsSync } from "node:fs";
import { quoteForShell } from "../harness.ts";
import type { ServiceFacts, ServiceProblem } from "../service-status.ts";
import type { ServiceStep } from "../service-steps.ts";
import { formatTable } from "../table.ts";
import type { Output } from "./output.ts";
import type { ServicePlace } from "./service-facts.ts";

/** A step as a line that could be typed. */
export function formatStep(step: ServiceStep): string {
  switch (step.kind) {
    case "write":
      return `write ${step.path}`;
    case "remove":
      return `rm ${step.path}`;
    case "run":
      return step.words.map(shellWord).join(" ");
    case "check-spares":
      return "ask whether a stop would end agents";
  }
}

/** What changes something; a question is no step to a person. */
export function printSteps(steps: readonly ServiceStep[], output: Output): void {
  for (const step of steps) if (step.kind !== "check-spares") output.out(formatStep(step));
}

function shellWord(word: string): string {
  return /^[\w./@:=-]+$/.test(word) ? word : quoteForShell(word);
}

export function statusDocument(
  place: ServicePlace,
  facts: ServiceFacts,
  problems: readonly ServiceProblem[],
) {
  const run = "problem" in facts.run ? null : facts.run;
  return {
    type: "service",
    network: place.network,
    manager: facts.manager,
    unit: facts.unit,
    path: facts.path,
    file: facts.file,
    binary: facts.binary,
    binaryState: facts.binaryState,
    environmentFile: { path: place.environmentFile, present: existsSync(place.environmentFile) },
    enabled: run?.enabled ?? null,
    state: run?.state ?? null,
    pid: run?.pid ?? null,
    exitCode: run?.exitCode ?? null,
    supervisor: facts.supervisor,
    lingering: facts.lingering,
    log: place.logCommand,
    problems,
  };
}

export function printStatus(
  place: ServicePlace,
  facts: ServiceFacts,
  problems: readonly ServiceProblem[],
  output: Output,
): void {
  if (facts.file !== "missing") {
    const present = existsSync(place.environmentFile) ? "" : " (not there)";
    const rows = [
      ["service", `${facts.unit} of ${facts.manager}`],
      ["network", place.network],
      ["file", facts.path],
      ["program", facts.binary ?? "-"],
      ["variables", `${place.environmentFile}${present}`],
      ["state", stateOf(facts)],
      ["log", place.logCommand],
    ];
    for (const line of formatTable(rows, { width: output.width })) output.out(line);
  }
  for (const { severity, message, next } of problems) {
    if (severity === "error") output.error(`${facts.unit}: ${message}`, next);
    else {
      output.warn(`${facts.unit}: ${message}`);
      output.note(`  next: ${next}`);
    }
  }
}

function stateOf({ run, lingering }: ServiceFacts): string {
  if ("problem" in run) return "cannot tell";
  const parts: string[] = [run.state];
  if (run.pid !== null) parts.push(`pid ${run.pid}`);
  if (run.enabled === true) parts.push(lingering === true ? "started at boot" : "started at login");
  return parts.join(", ");
}

/** The plan for a person: problems, a line per agent, a line of counts. */

import { count } from "../count.ts";
import { describeEvent, describeProblem, type PlanDocument, type TrustFileReport } from "../events.ts";
import { describeNoneHere } from "../plan-document.ts";
import { formatTable } from "../table.ts";
import type { PlanRow } from "../world.ts";
import type { Output } from "./output.ts";

const WORDS = { launch: "launch", teardown: "tear down", adopt: "keep", otherHost: "other host" } as const;

export function printPlan(plan: PlanDocument, output: Output): void {
  printProblems(plan, output);
  if (plan.agents.length === 0) {
    output.note(`No agent is declared in ${plan.network}/catalog.`);
    output.note("  convoy add worker --identity my-agent");
    return;
  }
  const ending = new Set(plan.teardown);
  const rows = plan.agents.map((row) => [wordFor(row, ending), row.identity, row.path, row.reason]);
  const table = [["DO", "AGENT", "FILE", "WHY"], ...rows];
  for (const line of formatTable(table, { width: output.width })) output.out(line);
  output.note(`plan: ${describeEvent(plan)}`);
  const noneHere = describeNoneHere(plan);
  if (noneHere !== null) output.note(noneHere);
}

/** What a pass would add to the harnesses' config files, and what keeps it from doing so. */
export function printTrust(files: readonly TrustFileReport[], output: Output): void {
  for (const { path, written, added, problem } of files) {
    if (problem !== null) output.warn(problem);
    else if (written) output.note(`trust: ${count(added.length, "workspace")} to add to ${path}`);
  }
}

/** What is wrong with the catalog and the registry, on stderr. */
export function printProblems({ problems }: Pick<PlanDocument, "problems">, output: Output): void {
  for (const problem of problems) {
    if (problem.severity === "error") output.error(describeProblem(problem));
    else output.warn(describeProblem(problem));
  }
}

function wordFor(row: PlanRow, ending: ReadonlySet<string>): string {
  if (row.blocked !== null) return row.blocked;
  if (row.disposition === "teardown" && !ending.has(row.identity)) return "retired";
  return WORDS[row.disposition];
}

/** The plan for a person: problems, a line per agent, a line of counts. */
import { describeEvent, describeProblem, type PlanDocument } from "../events.ts";
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
  const rows = plan.agents.map((row) => [wordFor(row), row.identity, row.reason, row.path]);
  const table = [["DO", "AGENT", "WHY", "FILE"], ...rows];
  for (const line of formatTable(table, { width: output.width })) output.out(line);
  output.note(describeEvent(plan));
  const noneHere = describeNoneHere(plan);
  if (noneHere !== null) output.note(noneHere);
}

/** What is wrong with the catalog and the registry, on stderr. */
export function printProblems({ problems }: Pick<PlanDocument, "problems">, output: Output): void {
  for (const problem of problems) {
    if (problem.severity === "error") output.error(describeProblem(problem));
    else output.warn(describeProblem(problem));
  }
}

function wordFor(row: PlanRow): string {
  return row.blocked ?? WORDS[row.disposition];
}

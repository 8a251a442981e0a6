/** `convoy validate`: every problem of the catalog, at its place. Sessions and their registry are not its subject. */
import { join } from "node:path";
import { readIdentityLine } from "../catalog/locate.ts";
import { checkCatalog } from "../catalog-check.ts";
import { count } from "../count.ts";
import type { Problem } from "../declaration.ts";
import { sortProblems } from "../in-force.ts";
import { locateProblems } from "../supervisor/observe.ts";
import { oneLine } from "../table.ts";
import type { CommandContext } from "./command.ts";
import { type Declared, readDeclared } from "./declared.ts";
import { networkFlag } from "./network.ts";
import type { Output } from "./output.ts";

/** Resolves to the exit code: 1 when there is an error, warnings alone are 0. */
export async function runValidate(context: Omit<CommandContext, "args">): Promise<number> {
  const declared = await readDeclared(context);
  const { catalog, inForce, host, paths } = declared;
  const problems = await withLines(checkCatalog(inForce, host), declared);
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const files = catalog.files.length;
  const declarations = catalog.files.filter(({ entry }) => entry !== null).length;
  const { output } = context;
  if (context.json)
    output.document({ network: paths.root, host, files, declarations, errors, warnings, problems });
  else {
    for (const problem of problems) output.out(formatProblem(problem, output));
    output.note(summary({ files, declarations, errors, warnings }));
    if (files === 0 && errors === 0)
      output.note(`  convoy add worker --identity my-agent${networkFlag(context.network())}`);
  }
  return errors > 0 ? 1 : 0;
}

async function withLines(problems: readonly Problem[], { catalog, paths }: Declared): Promise<Problem[]> {
  const locate = (path: string) => readIdentityLine(join(paths.catalog, path));
  return sortProblems(await locateProblems(problems, catalog, { locate }));
}

/** `path:line: error: message`, as compilers do. */
function formatProblem({ severity, path, line, message }: Problem, { colors }: Output): string {
  const where = line === null ? path : `${path}:${line}`;
  const word = severity === "error" ? colors.red(severity) : colors.yellow(severity);
  return `${oneLine(where)}: ${word}: ${oneLine(message)}`;
}

function summary(counts: Readonly<Record<"files" | "declarations" | "errors" | "warnings", number>>): string {
  const { files, declarations, errors, warnings } = counts;
  const found = `${count(declarations, "declaration")} in ${count(files, "file")}`;
  if (errors + warnings === 0) return `${found}, no problems.`;
  return `${found}: ${count(errors, "error")}, ${count(warnings, "warning")}.`;
}

/** Checks as lines and as a document. */
import { type Answer, type Check, countAnswers } from "../doctor.ts";
import { formatTable } from "../table.ts";
import type { Colors } from "./colors.ts";
import type { Output } from "./output.ts";

const WORDS: Readonly<Record<Answer, string>> = { pass: "pass", fail: "FAIL", unknown: "could not tell" };
const PAINTS: Readonly<Record<Answer, keyof Colors>> = { pass: "green", fail: "red", unknown: "yellow" };
const FIX = "  fix: ";

/** Prints all, and gives the exit code. */
export function printChecks(
  checks: readonly Check[],
  document: Readonly<Record<string, unknown>>,
  json: boolean,
  output: Output,
): number {
  const counts = countAnswers(checks);
  if (json) output.document({ ...document, ...counts, checks });
  else {
    for (const line of checkLines(checks, output)) output.out(line);
    output.note(`${counts.pass} pass, ${counts.fail} fail, ${counts.unknown} could not tell.`);
  }
  return counts.fail === 0 ? 0 : 1;
}

function checkLines(checks: readonly Check[], { colors }: Output): string[] {
  const rows = checks.map(({ answer, name, message }) => [
    { text: WORDS[answer], paint: colors[PAINTS[answer]] },
    name,
    message,
  ]);
  return formatTable(rows).flatMap((line, index) => {
    const { fix } = checks[index]!;
    return fix === null ? [line] : [line, `${FIX}${fix}`];
  });
}

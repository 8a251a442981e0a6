/** What `convoy doctor` answers: one check, one of three answers, and a fix with each failure. */

export type Answer = "pass" | "fail" | "unknown";

export interface Check {
  readonly name: string;
  readonly answer: Answer;
  /** What was found, on one line. */
  readonly message: string;
  /** What to type or do; null with a pass. */
  readonly fix: string | null;
}

export function pass(name: string, message: string): Check {
  return { name, answer: "pass", message, fix: null };
}

export function fail(name: string, message: string, fix: string): Check {
  return { name, answer: "fail", message, fix };
}

/** It could not be told. */
export function unknown(name: string, message: string, fix: string | null = null): Check {
  return { name, answer: "unknown", message, fix };
}

/** How many of each answer. */
export function countAnswers(checks: readonly Pick<Check, "answer">[]): Record<Answer, number> {
  const counts = { pass: 0, fail: 0, unknown: 0 };
  for (const { answer } of checks) counts[answer] += 1;
  return counts;
}

/** How many of something there are, in words for a person. */

/** `1 agent`, `2 agents`, `0 agents`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

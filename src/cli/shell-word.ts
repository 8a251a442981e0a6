/** A word of a shell's command line as it is written, read without running anything in it. */

/**
 * The word with its quotes and backslashes taken off; a quote that is still open ends with the word. What a shell
 * would expand (`$x`, `$(…)`, `~`, `*`) stays as it is written.
 */
export function unquoted(word: string): string {
  const part = /'([^']*)(?:'|$)|"((?:[^"\\]|\\[\s\S]|\\$)*)(?:"|$)|\\([\s\S]|$)|[^'"\\]+/g;
  return word.replaceAll(part, (whole, single, double, escaped) => {
    if (single !== undefined) return single;
    if (double !== undefined) return double.replaceAll(/\\(["\\$`])/g, "$1");
    return escaped ?? whole;
  });
}

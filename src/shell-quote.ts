/** Text as one word of a POSIX shell. */

/** `it's` becomes `'it'\''s'`: nothing inside is expanded, whatever it holds. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

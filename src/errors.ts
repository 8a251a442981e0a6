/** What a failure means to the person who typed the command; the exit codes of docs/exit-codes.md. */
export type ErrorCode = "failed" | "usage" | "not-found" | "locked";

export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  failed: 1,
  usage: 2,
  "not-found": 3,
  locked: 4,
};

/**
 * The one error class: an expected failure that ends the command.
 * `message` says what is wrong with what; `next` is what to type or do about it.
 */
export class ConvoyError extends Error {
  readonly code: ErrorCode;
  readonly next: string | null;

  constructor(code: ErrorCode, message: string, next: string | null = null) {
    super(message);
    this.name = "ConvoyError";
    this.code = code;
    this.next = next;
  }
}

/** The message of anything thrown, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s*\n\s*/g, "; ");
}

/** The `code` of a system error (`ENOENT`, `EACCES`, …), or null. */
export function errnoOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : null;
}

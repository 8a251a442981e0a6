/** How a session died (SUP-R10): facts, and the words that every event and listing uses. */

export interface Death {
  readonly kind: "vanished" | "exited";
  readonly message: string;
  readonly exitCode: number | null;
  /** `SIGKILL` for exit code 137; null when no signal ended it, or not one of these. */
  readonly signal: string | null;
}

/** Signals that have the same number on Linux and Darwin. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

/** Exit codes over this are 128 + the number of the signal that ended the child. */
const SIGNAL_BASE = 128;

/** What the status and exit code of a session that is gone say about its end. */
export function classifyDeath(status: "exited" | "vanished", exitCode: number | null): Death {
  if (status === "vanished") {
    return { kind: "vanished", message: "vanished (hard death — no exit record)", exitCode, signal: null };
  }
  if (exitCode === null) {
    return { kind: "exited", message: "killed with no exit code", exitCode, signal: null };
  }
  const signal = SIGNALS[exitCode - SIGNAL_BASE] ?? null;
  return { kind: "exited", message: `exit code ${exitCode}`, exitCode, signal };
}

/**
 * Every act that changes the world outside the process passes through `effect`, by name (docs/effects.md).
 * `CONVOY_TEST_KILL_AFTER=<name>[:<n>]` kills this process right after the n-th such act, so that a test can
 * show that the next pass repairs what is left.
 */
import process from "node:process";

export const EFFECTS = [
  "catalog-write",
  "record-write",
  "record-remove",
  "ledger-write",
  "ledger-remove",
  "holds-write",
  "name-write",
  "trust-write",
  "workspace-create",
  "host-spawn",
  "agent-spawn",
  "signal-term",
  "signal-kill",
  "event-write",
  "socket-bind",
  "pid-write",
  "files-remove",
] as const;
export type Effect = (typeof EFFECTS)[number];

const [killName, killCount] = (process.env.CONVOY_TEST_KILL_AFTER ?? "").split(":");
let remaining = Number.parseInt(killCount ?? "1", 10) || 1;

/** Marks that one effect has just been done. */
export function effect(name: Effect): void {
  if (name !== killName) return;
  remaining -= 1;
  if (remaining <= 0) process.kill(process.pid, "SIGKILL");
}

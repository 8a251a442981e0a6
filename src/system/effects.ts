/**
 * Every act that changes the world outside the process passes through `effect`, by name, right after it was done
 * (docs/effects.md says what a kill there leaves and what repairs it). For tests, this process
 * - is killed right after the n-th such act: `CONVOY_TEST_KILL_AFTER=<name>[:<n>]`;
 * - writes the name of each, and its own pid, to a file: `CONVOY_TEST_EFFECTS=<path>`.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";

export const EFFECTS = [
  "agent-spawn",
  "catalog-write",
  "config-lock-release",
  "config-lock-take",
  "event-write",
  "exclude-write",
  "files-remove",
  "folder-create",
  "folder-mode",
  "holder-remove",
  "holder-write",
  "holds-write",
  "hook-spawn",
  "host-spawn",
  "ledger-remove",
  "ledger-write",
  "lifeline-create",
  "lock-break",
  "lock-database",
  "lock-release",
  "lock-take",
  "log-open",
  "log-rotate",
  "log-truncate",
  "name-write",
  "pid-write",
  "record-remove",
  "record-write",
  "render-write",
  "service-change",
  "signal-hup",
  "signal-kill",
  "signal-nudge",
  "signal-term",
  "socket-bind",
  "socket-remove",
  "supervisor-signal",
  "supervisor-spawn",
  "temporary-remove",
  "temporary-write",
  "trust-write",
  "unit-remove",
  "unit-write",
  "workspace-create",
] as const;
export type Effect = (typeof EFFECTS)[number];

const [killName, killCount] = (process.env.CONVOY_TEST_KILL_AFTER ?? "").split(":");
const trace = process.env.CONVOY_TEST_EFFECTS;
let remaining = Number.parseInt(killCount ?? "1", 10) || 1;

/** Marks that one effect has just been done. */
export function effect(name: Effect): void {
  if (trace !== undefined) appendFileSync(trace, `${name} ${process.pid}\n`);
  if (name !== killName) return;
  remaining -= 1;
  if (remaining <= 0) process.kill(process.pid, "SIGKILL");
}

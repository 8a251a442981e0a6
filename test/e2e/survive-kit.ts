/** Where `convoy doctor survive` works in a test, and what it shows. */
import { readdirSync } from "node:fs";
import type { Check } from "../../src/doctor.ts";
import type { Net } from "./kit.ts";

/** Names of its checks, in order. */
export const WAYS = [
  "INT (Ctrl-C)",
  "TERM",
  "HUP",
  "QUIT",
  "KILL",
  "its terminal closed",
  "its process group killed",
  "detached, and killed",
  "its service restarted",
  "its service stopped",
  "its service removed",
  "clean-up",
];

export interface Report {
  readonly checks: readonly Check[];
}

/** In the network's home, so that all of it is found there. */
export function here(net: Net): Record<string, string> {
  return { TMPDIR: net.home };
}

/** Its folders that are there. */
export function left(net: Net): string[] {
  return readdirSync(net.home).filter((name) => name.startsWith("cv-survive-"));
}

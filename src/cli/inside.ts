/** Whether a command is typed inside one of the sessions that it is about. */

import { realpathSync } from "node:fs";
import process from "node:process";
import type { DownTarget } from "../down-plan.ts";
import { errnoOf } from "../errors.ts";
import { effect } from "../system/effects.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { identify, processTable } from "../system/processes.ts";

/** The session whose agent is above this process, or whose name this process carries in its environment; or null. */
export function findInside(
  targets: readonly DownTarget[],
  paths: Pick<NetworkPaths, "pty">,
  env: Readonly<Record<string, string | undefined>>,
): DownTarget | null {
  const above = ancestors();
  const marked = isHere(paths.pty, env) ? env.PTY_SESSION : undefined;
  return targets.find(({ session }) => above.has(session.childPid ?? -1) || session.name === marked) ?? null;
}

function ancestors(): Set<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 1 && !found.has(pid); ) {
    found.add(pid);
    const row = processTable.row(pid);
    pid = row === null || row === "hidden" ? 0 : row.parent;
  }
  return found;
}

function isHere(registry: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const named = env.PTY_ROOT ?? env.PTY_SESSION_DIR;
  return named !== undefined && realPath(named) === realPath(registry);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

/** Whether the session's own host is there to end its agent. */
export function hasOwnHost({ session: { ledger } }: DownTarget): boolean {
  return ledger?.host != null && identify(ledger.host, ledger.boot) === "ours";
}

/** Asks that host to end its agent: HUP, two seconds, KILL, exit record. This process ends with it. */
export function letOwnHostEnd(inside: DownTarget): void {
  const pid = inside.session.ledger?.host?.pid;
  if (pid === undefined || !hasOwnHost(inside)) return;
  process.kill(pid, "SIGTERM");
  effect("signal-term");
}

/** Removes what the registry holds of one session that is provably not running. */
import { ConvoyError, messageOf } from "../errors.ts";
import { type Effect, effect } from "../system/effects.ts";
import { withLockFile } from "../system/lock-file.ts";
import { sessionPaths } from "../system/paths.ts";
import { removeFile } from "../system/remove-file.ts";
import { readSession } from "./read.ts";
import { withLaunchLock } from "./session-files.ts";

export type ForgetResult =
  | { readonly result: "forgotten" }
  | { readonly result: "none" }
  /** It runs, or nobody can tell that it does not. */
  | { readonly result: "refused"; readonly reason: "alive" | "unknown" };

/**
 * Forgets session `name` of the pty folder `registry`: record, events, socket, pid file, life line and ledger, the ledger last, so
 * that an interrupted removal can be repeated. Looks once more under the launch lock. Throws a `ConvoyError` when a
 * lock stays busy or a file cannot be removed.
 */
export async function forgetSession(registry: string, name: string): Promise<ForgetResult> {
  if ((await readSession(registry, name)) === null) return { result: "none" };
  return await withLaunchLock(registry, name, async () => {
    const session = await readSession(registry, name, { ownLock: true });
    if (session === null) return { result: "none" };
    if (session.process === "ours") return { result: "refused", reason: "alive" };
    if (session.process === "unknown") return { result: "refused", reason: "unknown" };
    const paths = sessionPaths(registry, name);
    await withLockFile(paths.lock, () => {
      remove(paths.record, "record-remove");
      for (const path of [paths.events, paths.socket, paths.pid, paths.lifeLine])
        remove(path, "files-remove");
    });
    await withLockFile(paths.ledgerLock, () => remove(paths.ledger, "ledger-remove"));
    return { result: "forgotten" };
  });
}

function remove(path: string, name: Effect): void {
  try {
    removeFile(path);
    effect(name);
  } catch (error) {
    throw new ConvoyError("failed", `cannot remove ${path}: ${messageOf(error)}`);
  }
}

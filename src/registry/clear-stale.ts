/** Clears away the socket and the pid file that a session without a process has left. */
import { effect } from "../system/effects.ts";
import { sessionPaths } from "../system/paths.ts";
import { removeFile } from "../system/remove-file.ts";
import { readSession } from "./read.ts";
import { withLaunchLock } from "./session-files.ts";

/** Record and ledger stay. Nothing is removed unless a last look, under the launch lock, proves it dead. */
export async function clearStale(registry: string, name: string): Promise<void> {
  await withLaunchLock(registry, name, async () => {
    const session = await readSession(registry, name, { ownLock: true });
    if (session?.process !== "not-ours") return;
    const { socket, pid } = sessionPaths(registry, name);
    for (const path of [socket, pid]) {
      removeFile(path);
      effect("files-remove");
    }
  });
}

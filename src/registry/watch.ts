/** Tells when the registry folder changes: sessions' records, sockets and pid files, and the holds. A hint, no more. */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../errors.ts";

/** Records, sockets, pid files; logs, locks and temporary files end otherwise. */
const SESSION_FILE = /\.(?:json|sock|pid)$/;
const STATE_FOLDER = ".convoy";
const HOLDS_FILE = "holds.json";

export interface RegistryWatch {
  close(): void;
}

/**
 * Calls `onChange` with the file's name after each change of a session's file in `registryDir`, or of the holds.
 * `onProblem` is called when changes cannot be seen (no watches left, the folder is gone): the timer then finds them.
 * Several calls for one change are usual. Throws nothing.
 */
export function watchRegistry(
  registryDir: string,
  onChange: (file: string) => void,
  onProblem: (message: string) => void,
): RegistryWatch {
  const state = join(registryDir, STATE_FOLDER);
  let holds: FSWatcher | null = null;

  const watchHolds = (): void => {
    if (holds !== null || !existsSync(state)) return;
    holds = open(state, onProblem, (name) => {
      if (name === HOLDS_FILE) onChange(name);
      else if (name === null || !existsSync(state)) dropHolds();
    });
  };
  const dropHolds = (): void => {
    holds?.close();
    holds = null;
  };
  const top = open(registryDir, onProblem, (name) => {
    if (name === null || !existsSync(registryDir)) {
      onProblem(`${registryDir} was removed; what happens there is seen by the timer only`);
      onChange("");
    } else if (name === STATE_FOLDER) {
      // Holds may have been written between its making and this watch.
      const fresh = holds === null;
      watchHolds();
      if (fresh && existsSync(join(state, HOLDS_FILE))) onChange(HOLDS_FILE);
    } else if (SESSION_FILE.test(name)) onChange(name);
  });
  watchHolds();
  return {
    close() {
      top?.close();
      dropHolds();
    },
  };
}

/** Null, with the problem told, when the folder cannot be watched. */
function open(
  folder: string,
  onProblem: (message: string) => void,
  onName: (name: string | null) => void,
): FSWatcher | null {
  const tell = (error: unknown) => onProblem(`cannot watch ${folder}: ${messageOf(error)}`);
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      onName(name === null || name === basename(folder) ? null : name);
    });
    watcher.on("error", tell);
    return watcher;
  } catch (error) {
    tell(error);
    return null;
  }
}

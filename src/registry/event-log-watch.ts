/** Tells when the network's own log may have grown: a watch on its folder, with a slow poll behind it. */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "../errors.ts";

/** What the watch does not see (none left, a folder that comes later, a network file system) is found after this. */
export const POLL_MS = 1_000;

export interface EventLogWatch {
  close(): void;
}

/** Calls `onChange` after each change of the log at `path`, and from time to time without one. Throws nothing. */
export function watchEventLog(path: string, onChange: () => void, pollMs = POLL_MS): EventLogWatch {
  const folder = dirname(path);
  let watcher: FSWatcher | null = null;
  const drop = () => {
    watcher?.close();
    watcher = null;
  };
  const open = () => {
    watcher ??= tryWatch(folder, drop, (name) => {
      // A folder that was removed says so once, and its watch is deaf from then on.
      if (!existsSync(folder)) drop();
      if (name === null || name.startsWith(basename(path))) onChange();
    });
  };
  const timer = setInterval(() => {
    open();
    onChange();
  }, pollMs);
  open();
  return {
    close() {
      clearInterval(timer);
      drop();
    },
  };
}

/** Null when there is nothing to watch, or no watch left: the poll does it alone, and tries again. */
function tryWatch(
  folder: string,
  onError: () => void,
  onName: (name: string | null) => void,
): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onName(name));
    watcher.on("error", onError);
    return watcher;
  } catch (error) {
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

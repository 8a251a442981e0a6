/**
 * Hints that a catalog folder changed. Events can be missing (behind links, on network disks, without watches left):
 * whoever acts on them also looks on a timer.
 */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, messageOf } from "../errors.ts";

export interface CatalogWatcher {
  close(): void;
}

/** How often a folder that is away is looked for, where nothing above it can tell. Milliseconds. */
const LOOK_AGAIN_MS = 5000;

/**
 * Calls `onChange` after anything under `dir` changed, appeared or went, the folder itself too: when it comes into
 * being later, or again, it is watched from then on. `onProblem` is called at most once, with a line for a person,
 * when changes cannot all be seen. Neither is called from within this function, nor after `close`.
 */
export function watchCatalog(
  dir: string,
  onChange: () => void,
  onProblem: (message: string) => void,
): CatalogWatcher {
  const watching = new Watching(dir, onChange, onProblem);
  watching.look();
  return watching;
}

class Watching implements CatalogWatcher {
  private readonly dir: string;
  private readonly onChange: () => void;
  private readonly onProblem: (message: string) => void;
  /** The folder's own watcher, and which folder it was: a path can come to lead to another one. */
  private folder: FSWatcher | null = null;
  private folderId: string | null = null;
  /** On the nearest folder above that exists: tells when ours comes or goes. */
  private above: FSWatcher | null = null;
  private aboveId: string | null = null;
  private timer: NodeJS.Timeout | null = null;
  private reported = false;
  private closed = false;

  constructor(dir: string, onChange: () => void, onProblem: (message: string) => void) {
    this.dir = dir;
    this.onChange = onChange;
    this.onProblem = onProblem;
  }

  close(): void {
    this.closed = true;
    this.folder?.close();
    this.above?.close();
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** Brings the watchers into line with what is there; whether our folder is another than before. */
  look(): boolean {
    if (this.closed) return false;
    this.watchAbove();
    const id = folderId(this.dir);
    if (id === this.folderId) return false;
    this.folder?.close();
    this.folderId = id;
    this.folder = id === null ? null : this.start(this.dir, true, (name) => this.seen(name));
    if (id === null) this.timer ??= setInterval(() => this.lookAndTell(), LOOK_AGAIN_MS).unref();
    else if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
    }
    return true;
  }

  private watchAbove(): void {
    let path = dirname(this.dir);
    while (folderId(path) === null && path !== dirname(path)) path = dirname(path);
    const id = `${path} ${folderId(path)}`;
    if (id === this.aboveId) return;
    this.above?.close();
    this.aboveId = id;
    this.above = this.start(path, false, () => this.lookAndTell());
  }

  private seen(name: string | null | undefined): void {
    // Without a name: the folder itself went, and its watcher is silent from now on.
    if (name === null || name === undefined) this.look();
    this.tell();
  }

  private lookAndTell(): void {
    if (this.look()) this.tell();
  }

  private tell(): void {
    if (!this.closed) this.onChange();
  }

  private start(path: string, recursive: boolean, onEvent: (name: string | null) => void): FSWatcher | null {
    try {
      const watcher = watch(path, { recursive, persistent: false }, (_, name) => onEvent(name));
      watcher.on("error", (error) => this.failed(error));
      return watcher;
    } catch (error) {
      // Gone between the look and the watch: the next event, or the timer, finds out.
      if (errnoOf(error) !== "ENOENT") this.failed(error);
      return null;
    }
  }

  private failed(error: unknown): void {
    if (this.reported) return;
    this.reported = true;
    const code = errnoOf(error);
    const reason =
      code === "ENOSPC"
        ? "no inotify watches are left (fs.inotify.max_user_watches)"
        : code === "EMFILE"
          ? "no inotify instances are left (fs.inotify.max_user_instances)"
          : messageOf(error);
    queueMicrotask(() => {
      if (!this.closed)
        this.onProblem(`changes in ${this.dir} are not all seen at once: ${reason}; the timer finds them`);
    });
  }
}

/** Which folder a path leads to, or null when it leads to none. */
function folderId(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isDirectory() ? `${stats.dev}:${stats.ino}` : null;
  } catch (error) {
    // Not there, or not to be looked at: the reader of the catalog says which.
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

/** Every version of a config file, and who wrote it: all its writers rename `<file>.tmp.<pid>.<rand>` over it. */
import { closeSync, type FSWatcher, openSync, readFileSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../src/errors.ts";

export interface ConfigVersion {
  readonly pid: number;
  readonly text: string;
}

export class ConfigHistory {
  private readonly path: string;
  private readonly prefix: string;
  private readonly watcher: FSWatcher;
  /** Opened as soon as they are there, since what is renamed over is gone. */
  private readonly open = new Map<string, number | null>();
  private readonly order: string[] = [];
  private last: string | null = null;

  constructor(path: string) {
    this.path = path;
    this.prefix = `${basename(path)}.tmp.`;
    this.watcher = watch(dirname(path), (kind, name) => {
      if (kind === "rename" && name !== null) this.note(name);
    });
  }

  /** A rename is two of these, from the one name and to the other, with nothing in between. */
  private note(name: string): void {
    if (name.startsWith(this.prefix)) {
      if (!this.open.has(name)) this.open.set(name, openIfThere(join(dirname(this.path), name)));
      this.last = name;
      return;
    }
    if (name === basename(this.path) && this.last !== null) this.order.push(this.last);
    this.last = null;
  }

  /** Every version, oldest first; null for one that was gone before it could be opened. */
  end(): (ConfigVersion | null)[] {
    this.watcher.close();
    const versions = this.order.map((name) => {
      const descriptor = this.open.get(name) ?? null;
      if (descriptor === null) return null;
      const pid = Number.parseInt(name.slice(this.prefix.length), 10);
      return { pid, text: readFileSync(descriptor, "utf8") };
    });
    for (const descriptor of this.open.values()) if (descriptor !== null) closeSync(descriptor);
    return versions;
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

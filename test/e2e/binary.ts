/** Drives the compiled binary, in a throw-away home. */
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

export const BINARY = resolve(import.meta.dir, "../../dist/convoy");

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Home {
  /** A short path: sockets have room in it. */
  readonly path: string;
  /** Runs `convoy <words>` in this home, and nothing else of this process's environment but PATH. */
  convoy(words: readonly string[], options?: { env?: Record<string, string>; cwd?: string }): Promise<Ran>;
  remove(): void;
}

/** Makes an empty home under /tmp; `remove` it in `afterEach`. */
export function createHome(): Home {
  const path = mkdtempSync("/tmp/cv-");
  return {
    path,
    async convoy(words, { env = {}, cwd = path } = {}) {
      const child = Bun.spawn([BINARY, ...words], {
        cwd,
        env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: path, ...env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, stdout, stderr };
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Where the network called `name` is in `home`. */
export function namedNetwork(home: Home, name = "default"): string {
  return join(home.path, ".local/state/convoy", name);
}

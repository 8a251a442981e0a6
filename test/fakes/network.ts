/** Throw-away networks, folders and processes for tests; `cleanUp` in `afterEach` leaves nothing of them. */
import { mkdtempSync, rmSync } from "node:fs";
import process from "node:process";
import { createNetwork } from "../../src/registry/network.ts";
import { type NetworkPaths, networkPaths } from "../../src/system/paths.ts";

const folders: string[] = [];
const processes: Bun.Subprocess[] = [];

/** A fresh folder with a short path. */
export function freshFolder(): string {
  const folder = mkdtempSync("/tmp/cv-");
  folders.push(folder);
  return folder;
}

export function freshNetwork(): NetworkPaths {
  const paths = networkPaths(freshFolder());
  createNetwork(paths);
  return paths;
}

export interface StartOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** A real process whose output can be read; it is killed by its pid when the test ends. */
export function start(command: string[], options: StartOptions = {}) {
  const child = Bun.spawn(command, {
    env: options.env ?? { PATH: "/usr/bin:/bin" },
    cwd: options.cwd ?? "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  processes.push(child);
  return child;
}

/** The same as `start`, for a TypeScript source given as text; `import`s in it are absolute. */
export function startScript(source: string, options: StartOptions = {}) {
  return start([process.execPath, "-e", source], options);
}

/** The next line that a process prints. */
export async function nextLine(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<string> {
  const reader = child.stdout.getReader();
  let text = "";
  try {
    while (!text.includes("\n")) {
      const chunk = await reader.read();
      if (chunk.done) break;
      text += new TextDecoder().decode(chunk.value);
    }
  } finally {
    reader.releaseLock();
  }
  return text.split("\n")[0] ?? "";
}

/** Waits until `condition` holds; throws when it does not within `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await Bun.sleep(5);
  }
}

export async function cleanUp(): Promise<void> {
  for (const child of processes.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await child.exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/**
 * Life lines: a named pipe that a process holds open and never touches. Whoever reads it is told by the kernel the
 * moment that process is gone. A socket would do the same, but an open socket wakes its process's event loop every
 * second, which costs more than everything else that an idle host does.
 */
import { closeSync, constants, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../errors.ts";
import type { ProcessIdentity } from "../session.ts";
import { effect } from "../system/effects.ts";
import { identify } from "../system/processes.ts";

/** A dying process closes its files a moment before it is dead. */
const DYING_LOOKS = 20;
const DYING_LOOK_MS = 5;
/** A reader that comes before the host has opened its end looks again. */
const RETRY_MS = 200;

/** The pipe of the supervisor that puts back what hosts lose. */
export function supervisorLinePath(registry: string): string {
  return join(registry, ".convoy", "supervisor.alive");
}

/** Makes the pipe when it is not there. False when this machine cannot (no `mkfifo`); all works without it too. */
export function makeLifeLine(path: string): boolean {
  if (isPipe(path)) return true;
  try {
    const made = Bun.spawnSync(["mkfifo", "-m", "600", path], { stdio: ["ignore", "ignore", "ignore"] });
    effect("lifeline-create");
    return made.exitCode === 0 || isPipe(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Holds the pipe; gives what lets it go, which the end of this process does too. Null when there is no pipe. */
export function holdLifeLine(path: string): (() => void) | null {
  const descriptor = open(path, constants.O_RDWR);
  return descriptor === null ? null : () => closeSync(descriptor);
}

/** Whether some process holds the pipe at this moment. */
export function isLifeLineHeld(path: string): boolean {
  const descriptor = open(path, constants.O_RDONLY);
  if (descriptor === null) return false;
  try {
    return readSync(descriptor, new Uint8Array(1)) > 0;
  } catch (error) {
    if (errnoOf(error) === "EAGAIN") return true;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

export interface LifeLineWatch {
  /** Resolves when it is over; never after `stop`. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** Waits until nobody holds the pipe: at once, when nobody does. Null when there is no pipe. */
export function watchPipe(path: string): LifeLineWatch | null {
  const descriptor = open(path, constants.O_RDONLY);
  if (descriptor === null) return null;
  const reader = Bun.file(descriptor).stream().getReader();
  let stopped = false;
  const watch = async (): Promise<void> => {
    try {
      while (!(await reader.read()).done);
    } finally {
      closeSync(descriptor);
    }
    if (stopped) await new Promise(() => {});
  };
  return {
    ended: watch(),
    stop() {
      stopped = true;
      void reader.cancel();
    },
  };
}

/** Waits for the end of the host `host`, started under `boot`, at its pipe. Null when there is no pipe. */
export function watchLifeLine(path: string, host: ProcessIdentity, boot: string): LifeLineWatch | null {
  let current = watchPipe(path);
  if (current === null) return null;
  let stopped = false;
  const watch = async (): Promise<void> => {
    while (current !== null) {
      await current.ended;
      if (await hasGone(host, boot)) break;
      await Bun.sleep(RETRY_MS);
      current = stopped ? null : watchPipe(path);
    }
    if (stopped) await new Promise(() => {});
  };
  return {
    ended: watch(),
    stop() {
      stopped = true;
      current?.stop();
    },
  };
}

async function hasGone(host: ProcessIdentity, boot: string): Promise<boolean> {
  for (let look = 0; look < DYING_LOOKS; look++) {
    if (identify(host, boot) === "not-ours") return true;
    await Bun.sleep(DYING_LOOK_MS);
  }
  return false;
}

function isPipe(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function open(path: string, mode: number): number | null {
  return isPipe(path) ? openSync(path, mode | constants.O_NONBLOCK) : null;
}

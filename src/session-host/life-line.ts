/**
 * A host's life line: a named pipe that the host holds open and never touches. Whoever reads it is told by the kernel
 * the moment the host is gone. A socket would do the same, but an open socket wakes its host's event loop every
 * second, which costs more than everything else that an idle host does.
 */
import { closeSync, constants, lstatSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../errors.ts";
import type { ProcessIdentity } from "../session.ts";
import { effect } from "../system/effects.ts";
import { sessionPaths } from "../system/paths.ts";
import { identify } from "../system/processes.ts";

/** A dying process closes its files a moment before it is dead. */
const DYING_LOOKS = 20;
const DYING_LOOK_MS = 5;
/** A reader that comes before the host has opened its end looks again. */
const RETRY_MS = 200;

/** Beside the session's ledger, where pty's program removes nothing. */
export function lifeLinePath(registry: string, name: string): string {
  return join(dirname(sessionPaths(registry, name).ledger), `${name}.alive`);
}

/** Makes the pipe when it is not there. False when this machine cannot (no `mkfifo`); all works without it too. */
export function makeLifeLine(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFIFO() === true) return true;
  try {
    const made = Bun.spawnSync(["mkfifo", "-m", "600", path], { stdio: ["ignore", "ignore", "ignore"] });
    effect("lifeline-create");
    return made.exitCode === 0;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Takes the host's end, for as long as this process lives. False when there is no pipe. */
export function holdLifeLine(path: string): boolean {
  return open(path, constants.O_RDWR) !== null;
}

export interface LifeLineWatch {
  /** Resolves when the host's process is gone; never after `stop`. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** Waits for the end of `host`, started under `boot`. Null when there is no pipe to wait at. */
export function watchLifeLine(path: string, host: ProcessIdentity, boot: string): LifeLineWatch | null {
  const first = open(path, constants.O_RDONLY);
  if (first === null) return null;
  let stopped = false;
  let cancel = () => {};

  const untilEnd = async (descriptor: number): Promise<void> => {
    try {
      const reader = Bun.file(descriptor).stream().getReader();
      cancel = () => void reader.cancel();
      while (!(await reader.read()).done);
    } finally {
      closeSync(descriptor);
    }
  };
  const watch = async (): Promise<void> => {
    let descriptor: number | null = first;
    while (!stopped && descriptor !== null) {
      await untilEnd(descriptor);
      if (stopped || (await hasGone(host, boot))) break;
      await Bun.sleep(RETRY_MS);
      descriptor = open(path, constants.O_RDONLY);
    }
    if (stopped) await new Promise(() => {});
  };
  return {
    ended: watch(),
    stop() {
      stopped = true;
      cancel();
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

function open(path: string, mode: number): number | null {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFIFO() !== true) return null;
  return openSync(path, mode | constants.O_NONBLOCK);
}

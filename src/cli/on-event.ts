/** `up --on-event <cmd>`: runs the command with the event's JSON on stdin. */
import { messageOf } from "../errors.ts";
import { type ConvoyEvent, formatEventJson } from "../events.ts";
import { effect } from "../system/effects.ts";
import { isDirectory } from "../system/programs.ts";
import type { Output } from "./output.ts";

const HOOKED = new Set(["session_flapping", "launch_failed", "death"]);

/**
 * The command runs beside the supervisor, which does not wait for it; its failure is a warning. It runs in `folder`,
 * in `/` once that is gone.
 */
export function createEventHook(
  command: string,
  folder: string,
  output: Output,
): (event: ConvoyEvent) => void {
  return (event) => {
    if (!HOOKED.has(event.type)) return;
    void runHook(command, folder, event).then((problem) => {
      if (problem !== null) output.warn(`--on-event for ${event.type}: ${problem}`);
    });
  };
}

/** Resolves to what went wrong, or null. */
async function runHook(command: string, folder: string, event: ConvoyEvent): Promise<string | null> {
  try {
    const hook = Bun.spawn(["sh", "-c", command], {
      cwd: isDirectory(folder) ? folder : "/",
      stdin: new TextEncoder().encode(`${formatEventJson(event)}\n`),
      stdout: "ignore",
      stderr: "ignore",
    });
    effect("hook-spawn");
    const code = await hook.exited;
    return code === 0 ? null : `${command} ended with exit code ${code}`;
  } catch (error) {
    return messageOf(error);
  }
}

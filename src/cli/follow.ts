/** Following what a session prints, until it ends or the person has seen enough. */
import process from "node:process";
import { readSession } from "../registry/read.ts";
import { watchRegistry } from "../registry/watch.ts";
import type { ObservedSession } from "../session.ts";
import type { SessionClient, SessionFailure } from "../session-host/client.ts";
import { TextFollower } from "../text-follower.ts";
import { isLive, type Target } from "./open-session.ts";
import type { Output } from "./output.ts";
import { lastLines, splitLines, type Wanted } from "./session-text.ts";

/** Aborted by Ctrl-C, by a signal that ends programs, and when nobody reads stdout any more. */
export function stopSignal(output: Output): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => stop.abort());
  return AbortSignal.any([stop.signal, output.closed]);
}

/** Resolves when `signal` is aborted. */
export function aborted(signal: AbortSignal): Promise<"stopped"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("stopped");
    else signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
}

export interface Follower {
  /** Its screen; `again` when output before it was lost because it came faster than it was taken. */
  screen(text: string, again: boolean): void;
  /** Output after the screen. */
  output(text: string): void;
}

/** Resolves when the program has ended or its host is gone, with what went wrong, or when `stop` is aborted. */
export async function followOutput(
  client: SessionClient,
  wanted: Wanted,
  follower: Follower,
  stop: AbortSignal,
): Promise<"ended" | "stopped" | SessionFailure> {
  const decoder = new TextDecoder();
  let screens = 0;
  client.onMessage((message) => {
    if (message.kind === "screen") {
      follower.screen(new TextDecoder().decode(message.bytes), screens > 0);
      screens += 1;
    }
    if (message.kind === "data" && screens > 0)
      follower.output(decoder.decode(message.bytes, { stream: true }));
  });
  const stopped = aborted(stop);
  try {
    const asked = await Promise.race([client.peek(wanted), stopped]);
    if (asked === "stopped") return asked;
    if (!asked.ok) return asked;
    return await Promise.race([client.ended.then(() => "ended" as const), stopped]);
  } finally {
    client.close();
  }
}

/** Prints lines: of the screen that is there the last `count`, all for null; then what comes. */
export function lineFollower(output: Output, count: number | null): Follower & { flush(): void } {
  const text = new TextFollower();
  const print = (lines: readonly string[]) => {
    for (const line of lines) output.out(line);
  };
  return {
    screen: (screen, again) => print(again ? text.resume(screen) : lastLines(splitLines(screen), count)),
    output: (data) => print(text.push(data)),
    flush: () => print(text.flush()),
  };
}

/** Sessions are looked at again after this time even when no change was seen. */
const LOOK_MS = 1_000;

/** The session once `wanted` holds of it; null when `stop` is aborted first. */
export async function waitForSession(
  { paths, session }: Target,
  wanted: (found: ObservedSession) => boolean,
  stop: AbortSignal,
): Promise<ObservedSession | null> {
  let wake = () => {};
  const watching = watchRegistry(
    paths.pty,
    () => wake(),
    () => {}, // Without a watch the timer finds it.
  );
  const stopped = aborted(stop);
  try {
    while (!stop.aborted) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = await readSession(paths.pty, session.name);
      if (found !== null && wanted(found)) return found;
      await Promise.race([changed, stopped, Bun.sleep(LOOK_MS)]);
    }
    return null;
  } finally {
    watching.close();
  }
}

/** One run of a session: another after each launch, by whatever program. */
export function runKey({ ledger, createdAt }: ObservedSession): string {
  return `${ledger?.launchId ?? ""} ${createdAt ?? ""}`;
}

/** Whether its output can be followed. */
export function canFollow(session: ObservedSession): boolean {
  return isLive(session) && session.orphaned !== true;
}

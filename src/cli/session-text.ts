/** What a session shows or has printed: from its host while it lives, from ledger and record afterwards. */
import { formatElapsed } from "../elapsed.ts";
import type { RunEnd } from "../ledger.ts";
import { readSession } from "../registry/read.ts";
import { describeRunEnd, lastRunEnd } from "../run-ends.ts";
import { systemClock } from "../system/clock.ts";
import { isLive, openSession, silent, type Target } from "./open-session.ts";
import type { Output } from "./output.ts";

export interface SessionText {
  readonly lines: readonly string[];
  /** Null while it runs. */
  readonly end: RunEnd | null;
}

export interface Wanted {
  /** Text alone, without the terminal's sequences. */
  readonly plain: boolean;
  /** The scrollback too. */
  readonly full: boolean;
}

/** Throws as `openSession` does. A session that ends meanwhile is read as one that has ended. */
export async function readSessionText(target: Target, wanted: Wanted): Promise<SessionText> {
  const opened = await openSession(target);
  if (opened.state === "ended") return endedText(lastRunEnd(opened.session));
  const answer = await opened.client.peek(wanted);
  opened.client.close();
  if (answer.ok) return { lines: splitLines(new TextDecoder().decode(answer.screen)), end: null };
  const now = await readSession(target.paths.pty, target.session.name);
  if (now === null || isLive(now)) throw silent(target.session, answer);
  return endedText(lastRunEnd(now));
}

function endedText(end: RunEnd): SessionText {
  return { lines: end.lastLines, end };
}

/** The lines of a screen; none of an empty one. */
export function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/\r?\n/);
}

/** The last `count` lines, or other things; all of them when it is null. */
export function lastLines<T>(lines: readonly T[], count: number | null): readonly T[] {
  return count === null ? lines : lines.slice(Math.max(0, lines.length - count));
}

/** `box.a ended 5m02s ago: exit code 3`. */
export function describeEnded(name: string, end: RunEnd): string {
  const elapsedMs = systemClock.now().getTime() - Date.parse(end.exitedAt ?? "");
  const when = Number.isNaN(elapsedMs) ? "" : ` ${formatElapsed(elapsedMs)} ago`;
  return `${name} ended${when}: ${describeRunEnd(end)}`;
}

/** `peek --json` and `logs --json`. */
export function printTextDocument({ session, identity, busId }: Target, text: SessionText, output: Output) {
  const { end, lines } = text;
  output.document({
    identity,
    busId,
    session: session.name,
    end: end && { exitCode: end.exitCode, exitedAt: end.exitedAt, message: describeRunEnd(end) },
    lines,
  });
}

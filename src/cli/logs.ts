/** `convoy logs`: what a session printed, on across its launches, or before its last one. */
import { ConvoyError } from "../errors.ts";
import { readSession } from "../registry/read.ts";
import { lastRunEnd, runBefore } from "../run-ends.ts";
import type { ObservedSession } from "../session.ts";
import type { CommandContext } from "./command.ts";
import { canFollow, followOutput, lineFollower, runKey, stopSignal, waitForSession } from "./follow.ts";
import { findTarget, isLive, openSession, silent, type Target } from "./open-session.ts";
import type { Output } from "./output.ts";
import {
  describeEnded,
  lastLines,
  printTextDocument,
  readSessionText,
  type SessionText,
} from "./session-text.ts";

export interface LogsArguments {
  readonly agent: string;
  readonly follow: boolean;
  readonly lines: number | null;
  readonly previous: boolean;
}

/** Everything that the host still has, as text. */
const WHOLE = { plain: true, full: true };

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. */
export async function runLogs(args: LogsArguments, context: Context): Promise<number> {
  const { output, json } = context;
  if (args.follow && (args.previous || json)) {
    const other = args.previous ? "--previous" : "--json";
    throw new ConvoyError("usage", `logs: ${other} and -f exclude each other`, "convoy logs --help");
  }
  const target = await findTarget(args.agent, context);
  if (args.follow) return await follow(target, args.lines, output);
  const text = args.previous ? previousText(target) : await readSessionText(target, WHOLE);
  if (text === null) output.note(`${target.session.name} has had no run before this one.`);
  const cut = { end: text?.end ?? null, lines: lastLines(text?.lines ?? [], args.lines) };
  if (json) printTextDocument(target, cut, output);
  else print(target, cut, output);
  return 0;
}

function previousText({ session }: Target): SessionText | null {
  const end = runBefore(session, isLive(session));
  return end === null ? null : { lines: end.lastLines, end };
}

function print({ session }: Target, { lines, end }: SessionText, output: Output): void {
  for (const line of lines) output.out(line);
  if (end !== null) output.note(describeEnded(session.name, end));
}

/** Run after run, those that ended unseen too, until the person has seen enough. */
async function follow(target: Target, count: number | null, output: Output): Promise<number> {
  const stop = stopSignal(output);
  let session: ObservedSession | null = target.session;
  let known: string | null = null;
  while (session !== null) {
    const again = runKey(session) === known;
    const first = known === null ? count : null;
    known = runKey(session);
    await followRun({ ...target, session }, again ? 0 : first, output, stop);
    session = await waitForSession(
      target,
      (found) => canFollow(found) || (runKey(found) !== known && !isLive(found)),
      stop,
    );
  }
  return 0;
}

/** `first`: how many lines of what is there already are printed; all for null. */
async function followRun(
  target: Target,
  first: number | null,
  output: Output,
  stop: AbortSignal,
): Promise<void> {
  const opened = await openSession(target);
  if (opened.state === "ended") {
    const end = lastRunEnd(opened.session);
    for (const line of lastLines(end.lastLines, first)) output.out(line);
    output.note(`${describeEnded(target.session.name, end)}; waiting for the next run.`);
    return;
  }
  const follower = lineFollower(output, first);
  const outcome = await followOutput(opened.client, WHOLE, follower, stop);
  follower.flush();
  if (outcome === "stopped") return;
  const now = await readSession(target.paths.pty, target.session.name);
  if (now === null || isLive(now)) {
    if (outcome !== "ended") throw silent(target.session, outcome);
    output.note(`The session host of ${target.session.name} is gone; waiting for the next run.`);
    return;
  }
  output.note(`${describeEnded(target.session.name, lastRunEnd(now))}; waiting for the next run.`);
}

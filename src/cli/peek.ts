/** `convoy peek`: a session's screen, once or as it changes, without disturbing it. */
import { ConvoyError } from "../errors.ts";
import { readSession } from "../registry/read.ts";
import { lastRunEnd } from "../run-ends.ts";
import type { CommandContext } from "./command.ts";
import { followOutput, lineFollower, stopSignal } from "./follow.ts";
import { showLive } from "./live-screen.ts";
import { findTarget, isLive, openSession, silent, type Target } from "./open-session.ts";
import type { Output } from "./output.ts";
import {
  describeEnded,
  lastLines,
  printTextDocument,
  readSessionText,
  type SessionText,
  type Wanted,
} from "./session-text.ts";

export interface PeekArguments {
  readonly agent: string;
  readonly full: boolean;
  readonly ansi: boolean;
  readonly follow: boolean;
}

type Context = Omit<CommandContext, "args">;

/** Lines of a terminal that nobody has attached to: what is shown of a session that has ended. */
const SCREEN_LINES = 24;

/** Resolves to the exit code. */
export async function runPeek(args: PeekArguments, context: Context): Promise<number> {
  if (args.follow && context.json)
    throw new ConvoyError("usage", "peek: --json and -f exclude each other", "convoy peek --help");
  const target = await findTarget(args.agent, context);
  const wanted = { plain: !args.ansi, full: args.full };
  if (args.follow && isLive(target.session)) return await follow(target, wanted, context.output);
  const text = shown(await readSessionText(target, wanted), args);
  if (context.json) printTextDocument(target, text, context.output);
  else printText(target, text, args.ansi, context.output);
  return 0;
}

/** Of one that has ended, as much as its screen held. */
function shown({ lines, end }: SessionText, { full }: PeekArguments): SessionText {
  return { end, lines: end === null || full ? lines : lastLines(lines, SCREEN_LINES) };
}

function printText(target: Target, { lines, end }: SessionText, ansi: boolean, output: Output): void {
  if (ansi && end === null) output.raw(`${lines.join("\r\n")}\x1b[0m\r\n`);
  else for (const line of lines) output.out(line);
  if (end !== null) output.note(describeEnded(target.session.name, end));
}

/** Until it ends, or the person has seen enough. */
async function follow(target: Target, wanted: Wanted, output: Output): Promise<number> {
  const { name } = target.session;
  const opened = await openSession(target);
  if (opened.state === "ended") {
    const end = lastRunEnd(opened.session);
    printText(target, { lines: lastLines(end.lastLines, SCREEN_LINES), end }, false, output);
    return 0;
  }
  const stop = stopSignal(output);
  const outcome =
    output.width === null
      ? await followOutput(
          opened.client,
          wanted,
          wanted.plain ? lineFollower(output, null) : rawFollower(output),
          stop,
        )
      : await showLive(opened.client, wanted.plain, output, stop);
  if (outcome === "stopped") return 0;
  const now = await readSession(target.paths.pty, name);
  if (now !== null && !isLive(now)) {
    output.note(describeEnded(name, lastRunEnd(now)));
    return 0;
  }
  if (outcome !== "ended") throw silent(target.session, outcome);
  throw new ConvoyError("failed", `the session host of ${name} is gone`, `convoy ls${target.flag}`);
}

function rawFollower(output: Output) {
  return { screen: (text: string) => output.raw(text), output: (text: string) => output.raw(text) };
}

/** `convoy events`: what happened in a network, from its own log; one agent's part of it, and what comes. */
import { type ConvoyEvent, isAbout } from "../events.ts";
import { EventLogReader } from "../registry/event-log-reader.ts";
import { watchEventLog } from "../registry/event-log-watch.ts";
import { findSession } from "./agent-ref.ts";
import type { CommandContext } from "./command.ts";
import { eventPrinter } from "./events-output.ts";
import { aborted, stopSignal } from "./follow.ts";
import { lookAt } from "./look.ts";
import { networkFlag, requireNetwork } from "./network.ts";
import { lastLines } from "./session-text.ts";

export interface EventsArguments {
  readonly agent: string | null;
  readonly follow: boolean;
  readonly lines: number | null;
}

/** What a person is shown who names no number; a program gets all that is kept. */
const LAST_FOR_PEOPLE = 50;

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. */
export async function runEvents(args: EventsArguments, context: Context): Promise<number> {
  const { output, json } = context;
  const network = context.network();
  const paths = requireNetwork(network);
  const print = eventPrinter(output, json ? "json" : "dated", networkFlag(network));
  const wanted = (event: ConvoyEvent) => args.agent === null || isAbout(event, args.agent);
  const reader = new EventLogReader(paths.events);
  try {
    const { events, skipped } = reader.read();
    const found = events.filter(wanted);
    if (found.length === 0 && args.agent !== null) await requireKnown(args.agent, context);
    for (const event of lastLines(found, args.lines ?? (json ? null : LAST_FOR_PEOPLE))) print(event);
    if (skipped > 0) output.note(describeSkipped(skipped, paths.events));
    if (args.follow) await follow(reader, paths.events, (event) => wanted(event) && print(event), context);
    else if (found.length === 0)
      output.note(`Nothing has happened${args.agent === null ? "" : ` to ${args.agent}`} yet.`);
    return 0;
  } finally {
    reader.close();
  }
}

/** Of an agent that nothing is told of yet: throws "not-found", with the nearest name, when there is none such. */
async function requireKnown(agent: string, context: Context): Promise<void> {
  findSession(await lookAt(context), agent);
}

/** Until Ctrl-C, or until nobody reads stdout any more. */
async function follow(
  reader: EventLogReader,
  path: string,
  show: (event: ConvoyEvent) => void,
  { output }: Context,
): Promise<void> {
  const stop = stopSignal(output);
  const stopped = aborted(stop);
  let wake = () => {};
  const watching = watchEventLog(path, () => wake());
  try {
    while (!stop.aborted) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      for (const event of reader.read().events) show(event);
      await Promise.race([changed, stopped]);
    }
  } finally {
    watching.close();
  }
}

function describeSkipped(count: number, path: string): string {
  if (count === 1) return `1 line of ${path} is no event and was left out.`;
  return `${count} lines of ${path} are no events and were left out.`;
}

/** Events on stdout: a line for a person, or a JSON Lines record. */
import { messageOf } from "../errors.ts";
import { type ConvoyEvent, describeEvent, formatEventJson } from "../events.ts";
import { oneLine } from "../table.ts";
import type { Output } from "./output.ts";

export type EventForm = "json" | "timed" | "plain";

/** Shows every event as it comes. */
export function eventPrinter(
  output: Output,
  form: EventForm,
  networkFlag: string,
): (event: ConvoyEvent) => void {
  switch (form) {
    case "json":
      return (event) => output.out(formatEventJson(event));
    case "timed":
      return (event) => output.out(formatTimedLine(event, output, networkFlag));
    case "plain":
      return (event) => output.out(formatEventLine(event, output, networkFlag));
  }
}

/** For what goes on: output on a full disk is said, once per reason; it is no reason to leave the agents alone. */
export function lastingPrinter(
  print: (event: ConvoyEvent) => void,
  warn: (message: string) => void,
): (event: ConvoyEvent) => void {
  let said: string | null = null;
  return (event) => {
    try {
      print(event);
      said = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== said) warn(`what happens cannot be shown: ${problem}`);
      said = problem;
    }
  };
}

/** `hh:mm:ss  type  what happened`, in local time. */
export function formatTimedLine(
  event: ConvoyEvent,
  output: Pick<Output, "colors">,
  networkFlag = "",
): string {
  return `${output.colors.dim(formatTime(new Date(event.ts)))}  ${formatEventLine(event, output, networkFlag)}`;
}

/** `type  what happened`. */
export function formatEventLine(
  event: ConvoyEvent,
  { colors }: Pick<Output, "colors">,
  networkFlag = "",
): string {
  return `${paint(event.type, colors)}  ${oneLine(describeEvent(event, networkFlag))}`;
}

const TYPE_COLUMN = 16;
const BAD = new Set(["death", "launch_failed", "session_flapping", "catalog_error", "survivor"]);
const DOUBTFUL = new Set(["warning", "catalog_warning", "waiting", "held"]);

function paint(type: string, colors: Output["colors"]): string {
  const text = type.padEnd(TYPE_COLUMN);
  if (BAD.has(type)) return colors.red(text);
  return DOUBTFUL.has(type) ? colors.yellow(text) : colors.green(text);
}

/** `hh:mm:ss`, without `toTimeString`, which loads the names of time zones. */
function formatTime(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

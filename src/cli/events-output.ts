/** Events on stdout: a line for a person, or a JSON Lines record. */
import { messageOf } from "../errors.ts";
import { type ConvoyEvent, describeEvent, formatEventJson } from "../events.ts";
import { systemClock } from "../system/clock.ts";
import { oneLine } from "../table.ts";
import type { Output } from "./output.ts";

/** `dated`: as `timed`, for events that may be of another day, or of another convoy. */
export type EventForm = "json" | "timed" | "dated" | "plain";

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
    case "dated":
      return (event) => output.out(formatDatedLine(event, systemClock.now(), output, networkFlag));
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

/** As `formatTimedLine`, with `yyyy-mm-dd` before the time where that is not the day of `now`. */
export function formatDatedLine(
  event: ConvoyEvent,
  now: Date,
  { colors }: Pick<Output, "colors">,
  networkFlag = "",
): string {
  const time = oneLine(formatStamp(event.ts, now));
  const type = paint(oneLine(event.type), colors);
  return `${colors.dim(time)}  ${type}  ${oneLine(describeRead(event, networkFlag))}`;
}

/** What cannot be read as a time stands as it is. */
function formatStamp(ts: string, now: Date): string {
  const at = new Date(ts);
  if (Number.isNaN(at.getTime())) return ts;
  const day = formatDay(at);
  return day === formatDay(now) ? formatTime(at) : `${day} ${formatTime(at)}`;
}

function formatDay(day: Date): string {
  const [year, ...rest] = [day.getFullYear(), day.getMonth() + 1, day.getDate()];
  return [year, ...rest.map((part) => String(part).padStart(2, "0"))].join("-");
}

/** A record that lacks what its type should have, from whatever wrote it, is shown as it stands. */
function describeRead(event: ConvoyEvent, networkFlag: string): string {
  try {
    return describeEvent(event, networkFlag);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return formatEventJson(event);
  }
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

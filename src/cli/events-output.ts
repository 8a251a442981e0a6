/** Events on stdout: a line for a person, or a JSON Lines record. */
import { type ConvoyEvent, describeEvent, formatEventJson } from "../events.ts";
import { systemClock } from "../system/clock.ts";
import type { Output } from "./output.ts";

/** `dated`: as `timed`, for events that may be of another day, or of another convoy. */
export type EventForm = "json" | "timed" | "dated" | "plain";

/** Shows every event as it comes. */
export function eventPrinter(output: Output, form: EventForm): (event: ConvoyEvent) => void {
  switch (form) {
    case "json":
      return (event) => output.out(formatEventJson(event));
    case "timed":
      return (event) => output.out(formatTimedLine(event, output));
    case "dated":
      return (event) => output.out(formatDatedLine(event, systemClock.now(), output));
    case "plain":
      return (event) => output.out(formatEventLine(event, output));
  }
}

/** `hh:mm:ss  type  what happened`, in local time. */
export function formatTimedLine(event: ConvoyEvent, output: Pick<Output, "colors">): string {
  return `${output.colors.dim(formatTime(new Date(event.ts)))}  ${formatEventLine(event, output)}`;
}

/** As `formatTimedLine`, with `yyyy-mm-dd` before the time where that is not the day of `now`. */
export function formatDatedLine(event: ConvoyEvent, now: Date, output: Pick<Output, "colors">): string {
  const time = formatStamp(event.ts, now);
  return `${output.colors.dim(time)}  ${paint(event.type, output.colors)}  ${describeRead(event)}`;
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
function describeRead(event: ConvoyEvent): string {
  try {
    return describeEvent(event);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return formatEventJson(event);
  }
}

/** `type  what happened`. */
export function formatEventLine(event: ConvoyEvent, { colors }: Pick<Output, "colors">): string {
  return `${paint(event.type, colors)}  ${describeEvent(event)}`;
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

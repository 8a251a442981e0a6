/** Events on stdout: a line for a person, or a JSON Lines record. */
import { type ConvoyEvent, describeEvent, formatEventJson } from "../events.ts";
import type { Output } from "./output.ts";

/** Shows every event as it comes. */
export function eventPrinter(output: Output, json: boolean): (event: ConvoyEvent) => void {
  if (json) return (event) => output.out(formatEventJson(event));
  return (event) => output.out(formatEventLine(event, output));
}

/** `hh:mm:ss  type  what happened`, in local time. */
export function formatEventLine(event: ConvoyEvent, { colors }: Pick<Output, "colors">): string {
  const time = new Date(event.ts).toTimeString().slice(0, 8);
  return `${colors.dim(time)}  ${paint(event.type, colors)}  ${describeEvent(event)}`;
}

const TYPE_COLUMN = 16;
const BAD = new Set(["death", "launch_failed", "session_flapping", "catalog_error", "survivor"]);
const DOUBTFUL = new Set(["warning", "catalog_warning", "waiting", "held"]);

function paint(type: string, colors: Output["colors"]): string {
  const text = type.padEnd(TYPE_COLUMN);
  if (BAD.has(type)) return colors.red(text);
  return DOUBTFUL.has(type) ? colors.yellow(text) : colors.green(text);
}

/** Events that a program raises through its terminal: bell, title, notification, focus, cursor (formats of pty's log). */
import type { TerminalModes } from "./terminal-modes.ts";
import type { Sequence } from "./terminal-scan.ts";

export interface TerminalEvent {
  readonly type: "bell" | "title_change" | "notification" | "focus_request" | "cursor_visible";
  readonly [member: string]: unknown;
}

/** The events of one sequence; `before` are the modes without it. */
export function eventsOf(sequence: Sequence, before: TerminalModes): TerminalEvent[] {
  switch (sequence.kind) {
    case "bell":
      return [{ type: "bell" }];
    case "osc":
      return eventsOfOsc(sequence.text, before);
    case "csi": {
      if (sequence.final !== "h" || !sequence.params.startsWith("?")) return [];
      const modes = sequence.params.slice(1).split(";");
      const events: TerminalEvent[] = [];
      if (modes.includes("25") && before.isSet(25) === false) events.push({ type: "cursor_visible" });
      if (modes.includes("1004") && before.isSet(1004) === false) events.push({ type: "focus_request" });
      return events;
    }
    default:
      return [];
  }
}

function eventsOfOsc(text: string, before: TerminalModes): TerminalEvent[] {
  const [, code, body] = /^(\d+);(.*)$/s.exec(text) ?? [];
  switch (code) {
    case "0":
    case "2":
      return body === before.title ? [] : [{ type: "title_change", value: body }];
    case "9":
      // `9;4;…` is a progress bar, not a message.
      return body!.startsWith("4;") ? [] : [{ type: "notification", body, source: "osc9" }];
    case "99": {
      const fields = new Map(body!.split(";").map(splitField));
      const title = fields.get("title") ?? fields.get("t");
      const message = fields.get("body") ?? fields.get("b");
      return [{ type: "notification", title, body: message, source: "osc99" }];
    }
    case "777": {
      const [kind, title, ...rest] = body!.split(";");
      if (kind !== "notify" || title === undefined) return [];
      return [{ type: "notification", title, body: rest.join(";"), source: "osc777" }];
    }
    default:
      return [];
  }
}

function splitField(field: string): [string, string] {
  const equals = field.indexOf("=");
  return equals < 0 ? [field, ""] : [field.slice(0, equals), field.slice(equals + 1)];
}

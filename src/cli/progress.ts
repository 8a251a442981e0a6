/** One line on a terminal that says how far long work is. */
import { oneLine, truncate } from "../table.ts";
import type { Colors } from "./colors.ts";
import type { Sink } from "./sink.ts";

export interface Progress {
  /** Replaces the text. */
  update(text: string): void;
  /** Takes the line away, so that another can be printed, and puts it back. */
  hide(): void;
  show(): void;
  /** Takes the line away for good. */
  stop(): void;
}

const CLEAR_LINE = "\r\u001b[2K";

/** Shows `text` on `sink`; does nothing at all when that is no terminal. */
export function startProgress(text: string, sink: Sink, colors: Colors): Progress {
  let current = text;
  let running = sink.terminal();
  const show = () => {
    if (running) sink.write(CLEAR_LINE + colors.dim(truncate(oneLine(current), sink.columns() - 1)));
  };
  const hide = () => {
    if (running) sink.write(CLEAR_LINE);
  };
  show();
  return {
    update(next) {
      current = next;
      show();
    },
    hide,
    show,
    stop() {
      hide();
      running = false;
    },
  };
}

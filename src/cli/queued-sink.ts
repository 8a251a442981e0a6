/**
 * A stream that never holds its writer up: a reader that stopped, or a terminal stopped with Ctrl-S, must not keep
 * agents from being recovered. What waits is bounded; what came beyond is counted.
 */
import { messageOf } from "../errors.ts";
import type { Sink } from "./sink.ts";

export interface QueuedSink {
  /** False when nobody reads any more. Throws what the last background write failed with, once. */
  write(text: string): boolean;
  /** Resolves when nothing waits any more, or after `waitMs`. */
  flush(waitMs: number): Promise<void>;
}

/** Characters that wait at most. */
const MOST_WAITING = 1_000_000;

/** `onDropped` is told, once the reader reads again, how many writes were left out. */
export function queueBehind(sink: Pick<Sink, "writeSoon">, onDropped: (count: number) => void): QueuedSink {
  const waiting: string[] = [];
  let length = 0;
  let dropped = 0;
  let open = true;
  let problem: string | null = null;
  let pumping: Promise<void> | null = null;

  async function pump(): Promise<void> {
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
      try {
        if (!(await sink.writeSoon(text))) open = false;
      } catch (error) {
        problem = messageOf(error);
      }
      length -= text.length;
      if (waiting.length === 0 && dropped > 0) {
        onDropped(dropped);
        dropped = 0;
      }
    }
    pumping = null;
  }

  return {
    write(text) {
      if (length + text.length > MOST_WAITING) dropped += 1;
      else {
        waiting.push(text);
        length += text.length;
        pumping ??= pump();
      }
      if (problem === null) return open;
      const said = problem;
      problem = null;
      throw new Error(said);
    },
    async flush(waitMs) {
      if (pumping !== null) await Promise.race([pumping, Bun.sleep(waitMs)]);
    },
  };
}

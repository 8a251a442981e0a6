/**
 * Where text goes: data to stdout, what is meant for a person in passing to stderr, through one consola instance.
 * Writes are synchronous, so that nothing is lost when the process exits; `lasting` changes that.
 */

import { type ConsolaInstance, createConsola } from "consola/core";
import { count } from "../count.ts";
import { oneLine } from "../table.ts";
import { type Colors, createColors } from "./colors.ts";
import { type Progress, startProgress } from "./progress.ts";
import { queueBehind } from "./queued-sink.ts";
import type { Sink } from "./sink.ts";

export interface Output {
  /** One line of data on stdout. */
  out(line: string): void;
  /** Text on stdout just as it is. */
  raw(text: string): void;
  /** One JSON document on stdout, indented. */
  document(value: unknown): void;
  /** One JSON Lines record on stdout. */
  record(value: unknown): void;
  /** A line for a person, on stderr. */
  note(message: string): void;
  /** `warning: …` on stderr. */
  warn(message: string): void;
  /** `convoy: …` on stderr, with `  next: …` below. */
  error(message: string, next?: string | null): void;
  /** A line on stderr that replaces itself while long work runs; nothing when stderr is no terminal. */
  progress(text: string): Progress;
  /** From now on neither stream holds this process up, whoever reads it; what waits when `flush` ends is lost. */
  lasting(): { flush(waitMs: number): Promise<void> };
  /** For stdout. */
  readonly colors: Colors;
  /** Columns of stdout when it is a terminal, else null. */
  readonly width: number | null;
  /** Aborted once nobody reads stdout any more: what follows is dropped, and a stream can end. */
  readonly closed: AbortSignal;
}

/** Makes the two streams into an output. `NO_COLOR` (not empty) and `TERM=dumb` mean no colour. */
export function createOutput(
  stdout: Sink,
  stderr: Sink,
  env: Readonly<Record<string, string | undefined>>,
): Output {
  const colorful = !env.NO_COLOR && env.TERM !== "dumb";
  const colors = once(() => createColors(colorful && stdout.terminal()));
  const noteColors = once(() => createColors(colorful && stderr.terminal()));
  const closed = new AbortController();
  let progress: Progress | null = null;
  let toStdout: Pick<Sink, "write"> = stdout;
  let toStderr: Pick<Sink, "write"> = stderr;
  const write = (text: string) => {
    if (!closed.signal.aborted && !toStdout.write(text)) closed.abort();
  };
  const logTo = (stream: () => Pick<Sink, "write">) =>
    createPersonLog((line) => {
      progress?.hide();
      stream().write(`${line}\n`);
      progress?.show();
    });
  const person = once(() => logTo(() => toStderr));
  /** An error can be the last word before the process ends: it is never queued. */
  const lastWord = once(() => logTo(() => stderr));
  return {
    out: (line) => write(`${line}\n`),
    raw: write,
    document: (value) => write(`${JSON.stringify(value, null, 2)}\n`),
    record: (value) => write(`${JSON.stringify(value)}\n`),
    note: (message) => person().info(message),
    warn: (message) => person().warn(`${noteColors().yellow("warning:")} ${shown(message)}`),
    error(message, next = null) {
      lastWord().error(`${noteColors().red("convoy:")} ${shown(message)}`);
      if (next !== null) lastWord().error(`  ${noteColors().dim("next:")} ${shown(next)}`);
    },
    progress(text) {
      progress?.stop();
      progress = startProgress(text, stderr, noteColors());
      return progress;
    },
    lasting() {
      const tellDropped = (dropped: number) =>
        person().warn(`${count(dropped, "line")} not shown, for nobody read them: \`convoy events\` has all`);
      const queues = { stdout: queueBehind(stdout, tellDropped), stderr: queueBehind(stderr, tellDropped) };
      toStdout = queues.stdout;
      toStderr = queues.stderr;
      return {
        flush: async (ms) => void (await Promise.all([queues.stdout.flush(ms), queues.stderr.flush(ms)])),
      };
    },
    get colors() {
      return colors();
    },
    get width() {
      return stdout.terminal() ? stdout.columns() : null;
    },
    closed: closed.signal,
  };
}

/** Longest message; the middle of a longer one says little. */
const MOST_CHARACTERS = 2_000;

/** A message may quote what somebody typed or wrote into a file: one line, nothing that moves a terminal's cursor. */
function shown(message: string): string {
  const line = oneLine(message);
  if (line.length <= MOST_CHARACTERS) return line;
  return `${line.slice(0, MOST_CHARACTERS / 2)} … ${line.slice(-MOST_CHARACTERS / 2)}`.toWellFormed();
}

/** Start-up time: what asks about a terminal, or writes for a person, is made when it is first needed. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Every level at once, nothing folded, no decoration: the message is the line. */
function createPersonLog(writeLine: (line: string) => void): ConsolaInstance {
  return createConsola({
    level: 5,
    throttle: 0,
    throttleMin: Number.POSITIVE_INFINITY,
    reporters: [{ log: (entry) => writeLine(entry.args.map(String).join(" ")) }],
  });
}

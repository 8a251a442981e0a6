/** A session's screen on this terminal, drawn again as it changes. Nothing that is typed reaches the session. */
import process from "node:process";
import type { SessionClient, SessionFailure } from "../session-host/client.ts";
import { truncate } from "../table.ts";
import { aborted } from "./follow.ts";
import type { Output } from "./output.ts";
import { splitLines } from "./session-text.ts";

/** Least time between two drawings. */
const FRAME_MS = 50;
const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l";
/** What is between these is shown at once, by terminals that know them. */
const BEGIN = "\x1b[?2026h\x1b[0m\x1b[H\x1b[2J";
const END = "\x1b[0m\x1b[?2026l";

/** Resolves when the program has ended or its host is gone, with what went wrong, or when `stop` is aborted. */
export async function showLive(
  client: SessionClient,
  plain: boolean,
  output: Output,
  stop: AbortSignal,
): Promise<"ended" | "stopped" | SessionFailure> {
  let wake = () => {};
  client.onMessage(({ kind }) => {
    if (kind === "data" || kind === "geometry") wake();
  });
  const over = Promise.race([client.ended.then(() => "ended" as const), aborted(stop)]);
  let last = "";
  output.raw(ENTER);
  try {
    while (true) {
      const changed = new Promise<"changed">((resolve) => {
        wake = () => resolve("changed");
      });
      const answer = await Promise.race([client.peek({ plain, full: false }), over]);
      if (typeof answer === "string") return answer;
      if (!answer.ok) return answer;
      last = new TextDecoder().decode(answer.screen);
      output.raw(BEGIN + frame(last, plain, output.width ?? 80) + END);
      const outcome = await Promise.race([changed, over]);
      if (outcome !== "changed") return outcome;
      await Promise.race([Bun.sleep(FRAME_MS), over]);
    }
  } finally {
    client.close();
    output.raw(LEAVE);
    for (const line of splitLines(last)) output.raw(`${line}\x1b[0m\r\n`);
  }
}

/** As much of the screen's end as this terminal has room for. */
function frame(screen: string, plain: boolean, width: number): string {
  const lines = splitLines(screen).slice(-(process.stdout.rows || 24));
  return lines.map((line) => (plain ? truncate(line, width) : line)).join("\r\n");
}

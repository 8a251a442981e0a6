import { describe, expect, test } from "bun:test";
import type { ConvoyEvent } from "../events.ts";
import { createColors } from "./colors.ts";
import { formatDatedLine, formatTimedLine, lastingPrinter } from "./events-output.ts";

const plain = { colors: createColors(false) };
/** Local time, as a person's clock shows it. */
const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 5, 9);
const detach = (ts: string): ConvoyEvent => ({ ts, type: "detach", kept: 1 });
const said = "detach            detached: 1 session left running; to end them: convoy down";

describe("an event's line", () => {
  const now = at(30, 12);

  test("has the time, and the day where it is another one", () => {
    const table: [ts: string, line: string][] = [
      [at(30, 0).toISOString(), `00:05:09  ${said}`],
      [at(29, 23).toISOString(), `2026-11-29 23:05:09  ${said}`],
      ["yesterday", `yesterday  ${said}`],
    ];
    for (const [ts, line] of table) expect(formatDatedLine(detach(ts), now, plain)).toBe(line);
    expect(formatTimedLine(detach(at(29, 23).toISOString()), plain)).toBe(`23:05:09  ${said}`);
  });

  test("stands as it is written where it lacks what its type has, or is of a later convoy", () => {
    const torn = { ts: now.toISOString(), type: "plan" } as unknown as ConvoyEvent;
    expect(formatDatedLine(torn, now, plain)).toBe(
      `12:05:09  plan              {"ts":"${torn.ts}","type":"plan"}`,
    );
    const later = { ts: now.toISOString(), type: "nap", minutes: 5 } as unknown as ConvoyEvent;
    expect(formatDatedLine(later, now, plain)).toMatch(/^12:05:09 {2}nap {15}nap \{.*"minutes":5\}$/);
  });
});

test("output that cannot be written is said once per reason, and nothing is thrown", () => {
  const said: string[] = [];
  let fault: string | null = null;
  const print = lastingPrinter(
    () => {
      if (fault !== null) throw new Error(fault);
    },
    (message) => said.push(message),
  );
  for (const next of [null, "no space", "no space", "too large", null, "no space"]) {
    fault = next;
    print({ ts: "2026-01-01T00:00:00.000Z", type: "detach", kept: 0 } as ConvoyEvent);
  }
  expect(said).toEqual(
    ["no space", "too large", "no space"].map((fault) => `what happens cannot be shown: ${fault}`),
  );
});

import { expect, test } from "bun:test";
import type { ConvoyEvent } from "../events.ts";
import { createEmit } from "./wiring.ts";

test("an event log that cannot be written is said once per reason, and stops nothing", () => {
  const shown: string[] = [];
  const kept: string[] = [];
  let fault: string | null = null;
  const emit = createEmit(
    (event) => {
      if (fault !== null) throw new Error(fault);
      kept.push(event.type);
    },
    (event) => shown.push(event.type === "warning" ? event.message : event.type),
  );
  const say = (type: "detach") => emit({ ts: "2026-01-01T00:00:00.000Z", type, kept: 0 } as ConvoyEvent);
  for (const next of [null, "no space", "no space", "a folder", null, "no space"]) {
    fault = next;
    say("detach");
  }
  expect(kept).toEqual(["detach", "detach"]);
  expect(shown).toEqual([
    "detach",
    "this is not kept in the event log: no space",
    "detach",
    "detach",
    "this is not kept in the event log: a folder",
    "detach",
    "detach",
    "this is not kept in the event log: no space",
    "detach",
  ]);
});

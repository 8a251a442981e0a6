import { expect, test } from "bun:test";
import type { ConvoyEvent } from "../events.ts";
import { lastingPrinter } from "./events-output.ts";

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

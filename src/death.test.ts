import { expect, test } from "bun:test";
import { classifyDeath, type Death } from "./death.ts";

const CASES: readonly [status: "exited" | "vanished", exitCode: number | null, death: Death][] = [
  [
    "vanished",
    null,
    { kind: "vanished", message: "vanished (hard death — no exit record)", exitCode: null, signal: null },
  ],
  ["exited", null, { kind: "exited", message: "killed with no exit code", exitCode: null, signal: null }],
  ["exited", 0, { kind: "exited", message: "exit code 0", exitCode: 0, signal: null }],
  ["exited", 7, { kind: "exited", message: "exit code 7", exitCode: 7, signal: null }],
  ["exited", 128, { kind: "exited", message: "exit code 128", exitCode: 128, signal: null }],
  ["exited", 137, { kind: "exited", message: "exit code 137", exitCode: 137, signal: "SIGKILL" }],
  ["exited", 143, { kind: "exited", message: "exit code 143", exitCode: 143, signal: "SIGTERM" }],
  ["exited", 255, { kind: "exited", message: "exit code 255", exitCode: 255, signal: null }],
];

test.each(CASES)("%s with exit code %p", (status, exitCode, death) => {
  expect(classifyDeath(status, exitCode)).toEqual(death);
});

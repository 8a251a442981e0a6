import { expect, test } from "bun:test";
import type { SessionFiles } from "../session-host/ports.ts";
import { createSessionFiles } from "./session-files.ts";

test("session files have the shape that a session host declares", () => {
  const files: SessionFiles = createSessionFiles("/tmp/cv-none");
  expect(files.readLedger("box.a")).toBeNull();
});

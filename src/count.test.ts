import { expect, test } from "bun:test";
import { count } from "./count.ts";

test("one of a thing has no s", () => {
  expect([0, 1, 2].map((number) => count(number, "agent"))).toEqual(["0 agents", "1 agent", "2 agents"]);
});

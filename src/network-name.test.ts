import { expect, test } from "bun:test";
import { type NetworkQuestion, resolveNetwork } from "./network-name.ts";

const HOME = "/home/u";
const ask = (explicit: string | null, env: NetworkQuestion["env"] = {}) =>
  resolveNetwork({ explicit, env, home: HOME, cwd: "/here" });

test.each([
  [null, {}, "/home/u/.local/state/convoy/default", "default"],
  ["work", {}, "/home/u/.local/state/convoy/work", "argument"],
  ["a.b_c-d", { XDG_STATE_HOME: "/s" }, "/s/convoy/a.b_c-d", "argument"],
  ["work", { XDG_STATE_HOME: "relative" }, "/home/u/.local/state/convoy/work", "argument"],
  ["./n", {}, "/here/n", "argument"],
  ["n/", {}, "/here/n", "argument"],
  [".", {}, "/here", "argument"],
  ["..", {}, "/", "argument"],
  ["/n//x/", {}, "/n/x", "argument"],
  ["~", {}, "/home/u", "argument"],
  ["~/n", {}, "/home/u/n", "argument"],
  ["work", { CONVOY_NETWORK: "/n", ST_ROOT: "/m/smalltalk" }, "/home/u/.local/state/convoy/work", "argument"],
  [null, { CONVOY_NETWORK: "/n", ST_ROOT: "/m/smalltalk" }, "/n", "CONVOY_NETWORK"],
  [null, { CONVOY_NETWORK: "name" }, "/here/name", "CONVOY_NETWORK"],
  [null, { CONVOY_NETWORK: "", ST_ROOT: "/m/smalltalk" }, "/m", "ST_ROOT"],
  [null, { ST_ROOT: "/m/smalltalk/" }, "/m", "ST_ROOT"],
  [null, { ST_ROOT: "/m/bus" }, "/m/bus", "ST_ROOT"],
  [null, { CONVOY_NETWORK: "", ST_ROOT: "" }, "/home/u/.local/state/convoy/default", "default"],
] as const)("%p with %p is %s", (explicit, env, root, source) => {
  expect(ask(explicit, env)).toEqual({ root, source, written: explicit });
});

test.each([
  ["a b", {}, /"a b" is not a network/],
  ["-x", {}, /"-x" is not a network/],
  ["_x", {}, /"_x" is not a network/],
  ["", {}, /"" is not a network/],
  ["~root/n", {}, /"~root\/n": another user's home/],
  [null, { CONVOY_NETWORK: "~root" }, /CONVOY_NETWORK="~root": another user's home/],
] as const)("%p with %p is a problem", (explicit, env, problem) => {
  expect(ask(explicit, env)).toEqual({ problem: expect.stringMatching(problem) });
});

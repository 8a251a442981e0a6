import { describe, expect, test } from "bun:test";
import { networkRoot } from "./network-name.ts";

const HERE = { cwd: "/work/here", home: "/home/u" };

describe("networkRoot", () => {
  test.each<[string | null, Record<string, string>, string]>([
    ["ops", {}, "/home/u/.local/state/convoy/ops"],
    ["ops", { XDG_STATE_HOME: "/x" }, "/x/convoy/ops"],
    ["ops", { XDG_STATE_HOME: "not/absolute" }, "/home/u/.local/state/convoy/ops"],
    ["v1.2_a-b", { CONVOY_NETWORK: "/n", ST_ROOT: "/m" }, "/home/u/.local/state/convoy/v1.2_a-b"],
    ["./ops", {}, "/work/here/ops"],
    ["../ops/", {}, "/work/ops"],
    [".", {}, "/work/here"],
    ["a/b", {}, "/work/here/a/b"],
    ["/n/", {}, "/n"],
    ["~", {}, "/home/u"],
    ["~/nets/one", {}, "/home/u/nets/one"],
    [null, { CONVOY_NETWORK: "/n", ST_ROOT: "/m/smalltalk" }, "/n"],
    [null, { CONVOY_NETWORK: "ops" }, "/work/here/ops"],
    [null, { CONVOY_NETWORK: "", ST_ROOT: "/m/smalltalk" }, "/m"],
    [null, { ST_ROOT: "/m/smalltalk/" }, "/m"],
    [null, { ST_ROOT: "/m/other" }, "/m/other"],
    [null, { ST_ROOT: "" }, "/home/u/.local/state/convoy/default"],
    [null, {}, "/home/u/.local/state/convoy/default"],
    [null, { XDG_STATE_HOME: "/x" }, "/x/convoy/default"],
  ])("%p with %p is %s", (explicit, env, root) => {
    expect(networkRoot({ explicit, env, ...HERE })).toBe(root);
  });

  test.each(["", "-x", "two words", "_x"])("%p is wrong usage", (explicit) => {
    expect(() => networkRoot({ explicit, env: {}, ...HERE })).toThrow(`"${explicit}" is not a network`);
  });
});

import { describe, expect, test } from "bun:test";
import { hostLineOf, markOf, marksOf } from "./process-marks.ts";

const ST_ROOT = "/n/smalltalk";

describe("markOf", () => {
  test.each([
    [null, null],
    [[], null],
    [["A=1", "PTY_SESSION=box.a", `ST_ROOT=${ST_ROOT}`], { session: "box.a", stRoot: ST_ROOT }],
    [["PTY_SESSION=box.a"], { session: "box.a", stRoot: null }],
    [["XPTY_SESSION=box.a", "ST_ROOT=/x"], null],
    [["PTY_SESSION=a=b", "ST_ROOT="], { session: "a=b", stRoot: "" }],
  ])("%p", (environment, mark) => {
    expect(markOf(environment)).toEqual(mark);
  });
});

describe("marksOf", () => {
  const NOTHING = { session: null, stRoot: null, registries: [], ptyHostOf: null };
  test.each([
    [null, NOTHING],
    [["HOME=/h"], NOTHING],
    [
      ["PTY_SESSION=box.a", "PTY_ROOT=/n/pty", "PTY_SESSION_DIR=/m/pty"],
      { ...NOTHING, session: "box.a", registries: ["/n/pty", "/m/pty"] },
    ],
    [
      ["PTY_SESSION_DIR=/n/pty", 'PTY_SERVER_CONFIG={"name":"box.a","command":"sh"}'],
      { ...NOTHING, registries: ["/n/pty"], ptyHostOf: "box.a" },
    ],
    [['PTY_SERVER_CONFIG={"name":7}'], NOTHING],
    [["PTY_SERVER_CONFIG={"], NOTHING],
    [["PTY_SERVER_CONFIG="], NOTHING],
  ])("%p", (environment, marks) => {
    expect(marksOf(environment)).toEqual(marks);
  });
});

describe("hostLineOf", () => {
  test.each([
    [null, null],
    [["convoy", "ls"], null],
    [["convoy", "__session-host", "/n/pty", "box.a"], { registry: "/n/pty", session: "box.a" }],
    [["convoy", "__session-host", "/n/pty"], null],
  ])("%p", (args, host) => {
    expect(hostLineOf(args)).toEqual(host);
  });
});

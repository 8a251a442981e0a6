import { describe, expect, test } from "bun:test";
import { longestSocketPath, sessionNameProblems, socketPathProblem } from "./session-names.ts";

/** A network whose socket path for a session `name` has `bytes` bytes. */
function networkFor(name: string, bytes: number): string {
  const rest = Buffer.byteLength(`/pty/${name}.sock`);
  return `/${"n".repeat(bytes - rest - 1)}`;
}

describe("socket paths", () => {
  test.each([102, 103])("%p bytes fit", (bytes) => {
    const network = networkFor("box.a", bytes);
    expect(longestSocketPath(network, ["box.a"])?.bytes).toBe(bytes);
    expect(socketPathProblem(network, ["box.a"])).toBeNull();
  });

  test.each([104, 107, 108, 120])("%p bytes do not", (bytes) => {
    const network = networkFor("box.a", bytes);
    expect(socketPathProblem(network, ["b", "box.a"])).toBe(
      `socket path ${network}/pty/box.a.sock has ${bytes} bytes, at most 103 are possible: ` +
        `take a name that is ${bytes - 103} shorter, or a network in a shorter path`,
    );
  });

  test("bytes are counted, not letters", () => {
    expect(longestSocketPath("/ü", ["a"])).toEqual({ path: "/ü/pty/a.sock", bytes: 14 });
  });

  test("no sessions, no problem", () => {
    expect(socketPathProblem("/n", [])).toBeNull();
  });
});

test("sessionNameProblems names every one", () => {
  expect(sessionNameProblems("/n", ["box.a", "box.a.ding"])).toEqual([]);
  expect(sessionNameProblems("/n", ["a b", "x", "x", ".."])).toEqual([
    '"a b" is not a session id: letters, digits, ".", "_" and "-" only',
    'two tasks have the session id "x": give one of them another `id`',
    '".." is not a session id: letters, digits, ".", "_" and "-" only',
  ]);
});

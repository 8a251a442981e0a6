import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatRecord, parseRecord } from "./record.ts";

const FULL = {
  command: "sh",
  args: ["-c", "exec true"],
  displayCommand: "true",
  cwd: "/w",
  createdAt: "2026-11-30T10:00:00.000Z",
  theirs: { deep: [1, null] },
  tags: { role: "agent" },
  exitCode: 137,
  exitedAt: "2026-11-30T10:01:00.000Z",
  lastLines: ["bye"],
  generation: "g1",
};

function parsed(text: string) {
  const result = parseRecord(text);
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

describe("parseRecord", () => {
  test("takes a whole record, unknown members with it", () => {
    expect(parsed(JSON.stringify(FULL))).toEqual({ record: FULL, raw: FULL, problems: [] });
  });

  test.each([
    ["", "is empty"],
    [" \n", "is empty"],
    ['{"command": "sh", "ar', "is not JSON (torn or not ours)"],
    ["garbage", "is not JSON (torn or not ours)"],
    ["[]", "holds a list, not an object"],
    ["null", "holds null, not an object"],
    ["7", "holds a number, not an object"],
    ["{}", "names no command, so it is not a session record"],
    ['{"name": "package", "command": 3}', "names no command, so it is not a session record"],
  ])("%p is a problem", (text, problem) => {
    expect(parseRecord(text)).toEqual({ problem });
  });

  test("fills what a record must have, and says nothing of it", () => {
    const { record, problems } = parsed('{"command":"top"}');
    expect(record).toEqual({ command: "top", args: [], displayCommand: "top", cwd: "", createdAt: "" });
    expect(problems).toEqual([]);
  });

  test("takes known members of a wrong type as absent and reports each", () => {
    const text = JSON.stringify({
      command: "sh",
      args: "no list",
      createdAt: "yesterday",
      tags: { role: "agent", keep: true },
      exitCode: "0",
      daemonPid: -1,
      rows: null,
      __proto: 1,
      toString: "theirs",
    });
    const { record, problems } = parsed(text);
    expect(record).toEqual({
      command: "sh",
      args: [],
      displayCommand: "sh",
      cwd: "",
      createdAt: "",
      tags: { role: "agent" },
      __proto: 1,
      toString: "theirs",
    } as never);
    expect(problems).toEqual([
      '"args" has a value that cannot be used',
      '"createdAt" has a value that cannot be used',
      '"tags" holds "keep", which is not a string',
      '"exitCode" has a value that cannot be used',
      '"daemonPid" has a value that cannot be used',
    ]);
  });
});

describe("formatRecord", () => {
  test("is pretty JSON with 2 spaces, in order, without a final newline, as pty writes it", () => {
    expect(formatRecord(FULL)).toBe(JSON.stringify(FULL, null, 2));
  });

  test("changes only what changed; what could not be used stays as it stood", () => {
    const reading = parsed('{"zeta":1,"command":"sh","args":7,"tags":{"a":"1"},"exitCode":3,"last":2}');
    const { exitCode: _, ...record } = reading.record;
    const next = formatRecord({ ...record, tags: { a: "2" } } as typeof reading.record, reading);
    expect(next).toBe(
      JSON.stringify({ zeta: 1, command: "sh", args: 7, tags: { a: "2" }, last: 2 }, null, 2),
    );
  });

  test("an unchanged reading comes out as the same value in the same order, whatever it holds", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        const raw = JSON.parse(JSON.stringify({ ...members, command: "sh" }));
        const reading = parsed(JSON.stringify(raw));
        expect(formatRecord(reading.record, reading)).toBe(JSON.stringify(raw, null, 2));
      }),
    );
  });

  test("no text makes the parser throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        parseRecord(text);
      }),
    );
  });
});

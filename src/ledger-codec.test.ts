import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ledgerFixture } from "../test/fakes/ledgers.ts";
import { formatLedger, parseLedger } from "./ledger-codec.ts";

const LEDGER = ledgerFixture("a", {
  host: { pid: 10, start: "100" },
  child: { pid: 11, start: "101" },
  end: { exitCode: 3, exitedAt: "2026-11-30T10:00:01.000Z", lastLines: ["x"], error: null },
  declaration: {
    path: "box/a/agent.toml",
    hostWritten: true,
    declaration: {
      identity: "a",
      role: "worker",
      supervisor: null,
      host: "box",
      workspace: null,
      harness: "claude",
      bin: null,
      model: null,
      transport: "ding",
      persona: null,
      strategy: "permanent",
      retired: false,
      prefix: null,
      env: { A: "1" },
      render: { file: [{ dest: "d", from: "f", mode: null }], dir: [{ dest: "d", from: "f" }] },
      tasks: [{ name: "agent", command: "x", id: null, cwd: null, tags: {}, env: {}, keep: null }],
    },
  },
});

function parsed(value: unknown) {
  const result = parseLedger(JSON.stringify(value));
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

describe("parseLedger", () => {
  test("gives back what was written", () => {
    const result = parseLedger(formatLedger(LEDGER));
    expect(result).toEqual({ ledger: LEDGER, raw: LEDGER, problems: [] } as never);
  });

  test.each<[string, string, unknown]>([
    ["torn", "is not JSON (torn or not ours)", null],
    ["empty", "is empty", null],
    ["no version", 'has no version "v"', { v: undefined }],
    ["a host that is no process", 'has a "host" that cannot be used', { host: { pid: 0, start: "1" } }],
    ["a host that is not there", 'lacks "host"', { host: undefined }],
    ["a child that is a pid alone", 'has a "child" that cannot be used', { child: 7 }],
    ["an end that is no end", 'has a "end" that cannot be used', { end: { exitCode: "3" } }],
    ["a spec without a command", 'has a "spec" that cannot be used', { spec: {} }],
    ["tags that are no strings", 'has a "tags" that cannot be used', { tags: { a: 1 } }],
    ["an unknown reason for its end", 'has a "endedBy" that cannot be used', { endedBy: "me" }],
  ])("%s is a problem", (name, problem, members) => {
    const text = JSON.stringify({ ...LEDGER, ...(members as object) });
    const broken = name === "torn" ? text.slice(0, 40) : name === "empty" ? "" : text;
    expect(parseLedger(broken)).toEqual({ problem });
  });

  test("absent members that decide nothing get their empty value", () => {
    const { previous: _, failedLaunch: __, declaration: ___, ...old } = LEDGER;
    expect(parsed(old).ledger).toEqual({ ...LEDGER, previous: [], failedLaunch: false, declaration: null });
  });

  test("a newer version is used as far as it can be, and rewritten without loss", () => {
    const newer = {
      ...LEDGER,
      v: 2,
      endedBy: "upgrade",
      declaration: { path: "x", hostWritten: true, declaration: { identity: "a", role: "emperor" } },
      mood: "new",
    };
    const reading = parsed(newer);
    expect(reading.ledger).toEqual({ ...newer, endedBy: null, declaration: null } as never);
    expect(reading.problems).toEqual([
      '"declaration" is of a newer convoy (version 2) and is left as it is',
      '"endedBy" is of a newer convoy (version 2) and is left as it is',
    ]);
    const rewritten = JSON.parse(formatLedger({ ...reading.ledger, restarts: 4 }, reading));
    expect(rewritten).toEqual({ ...newer, restarts: 4 });
  });

  test("a newer version whose processes cannot be read is a problem: they may live", () => {
    expect(parseLedger(JSON.stringify({ ...LEDGER, v: 9, host: "vm-1" }))).toEqual({
      problem: 'has a "host" that cannot be used',
    });
  });

  test("no text makes the parser throw, and no cut ledger parses", () => {
    const whole = formatLedger(LEDGER);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (length) => {
        expect(parseLedger(whole.slice(0, length))).toHaveProperty("problem");
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        parseLedger(text);
      }),
    );
  });
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { ConvoyError } from "../errors.ts";
import { type Arguments, COMMON_FLAGS, JSON_FLAG, NETWORK_ARGUMENT } from "./command.ts";
import { asksFor, parseArguments } from "./parse.ts";

const DESCRIBED = {
  network: NETWORK_ARGUMENT,
  once: { type: "boolean", description: "one pass" },
  follow: { type: "boolean", alias: "f", description: "keep reading" },
  interval: { type: "seconds", valueHint: "s", least: 0.1, description: "seconds between passes" },
  lines: { type: "count", alias: "n", valueHint: "N", least: 0, description: "how many lines" },
  format: { type: "enum", valueHint: "f", options: ["toml", "kdl"], description: "format" },
  env: { type: "pair", valueHint: "K=V", multiple: true, description: "a variable" },
  key: { type: "string", valueHint: "k", multiple: true, description: "a key" },
  json: JSON_FLAG,
} as const satisfies Arguments;

const NOTHING = {
  network: null,
  once: false,
  follow: false,
  interval: null,
  lines: null,
  format: null,
  env: [],
  key: [],
  json: false,
};

function problemOf(described: Arguments, words: readonly string[]): string {
  try {
    parseArguments(described, words);
  } catch (error) {
    if (error instanceof ConvoyError && error.code === "usage") return error.message;
    throw error;
  }
  return "";
}

test.each<[string[], Record<string, unknown>]>([
  [[], {}],
  [["work"], { network: "work" }],
  [["--once", "work", "--json"], { once: true, network: "work", json: true }],
  [["--interval", "1.5"], { interval: 1.5 }],
  [["--interval=30"], { interval: 30 }],
  [["-n", "20"], { lines: 20 }],
  [["-n20"], { lines: 20 }],
  [["-n=20"], { lines: 20 }],
  [["-fn", "0"], { follow: true, lines: 0 }],
  [["--format", "kdl"], { format: "kdl" }],
  [
    ["--env", "B=2", "--env=A=1=x", "--env", "C="],
    {
      env: [
        ["B", "2"],
        ["A", "1=x"],
        ["C", ""],
      ],
    },
  ],
  [["--key", "up", "--key=--once", "--key", "-"], { key: ["up", "--once", "-"] }],
  [["--once", "--once", "--interval", "2", "--interval", "2.0"], { once: true, interval: 2 }],
  [["--", "--once"], { network: "--once" }],
  [["-"], { network: "-" }],
])("%p is read as %p", (words, given) => {
  expect<unknown>(parseArguments(DESCRIBED, words)).toEqual({
    args: { ...NOTHING, ...given },
    help: false,
    version: false,
    network: null,
  });
});

test("--network is apart from the positional of the same name", () => {
  const parsed = parseArguments(DESCRIBED, ["./a", "--network", "b"]);
  expect([parsed.args.network, parsed.network]).toEqual(["./a", "b"]);
});

test.each([
  [["--onec"], "unknown flag --onec; did you mean --once?"],
  [["--xyzzy=1"], "unknown flag --xyzzy"],
  [["-q"], "unknown flag -q"],
  [["-fq"], "unknown flag -q"],
  [["--no-once"], "unknown flag --no-once"],
  [["--o"], "unknown flag --o"],
  [["--constructor"], "unknown flag --constructor"],
  [["-once"], "unknown flag -once; did you mean --once?"],
  [["--once=true"], '--once takes no value, but got "true"'],
  [["--json="], '--json takes no value, but got ""'],
  [["--interval"], "--interval needs a value: --interval <s>"],
  [
    ["--interval", "--once"],
    '--interval needs a value: --interval <s>; for a value that begins with "-" write --interval=--once',
  ],
  [["--interval", "0"], '--interval is "0"; it can be a number of seconds from 0.1 to 2147483'],
  [["--interval", "30s"], '--interval is "30s"; it can be a number of seconds from 0.1 to 2147483'],
  [["--interval=-1"], '--interval is "-1"; it can be a number of seconds from 0.1 to 2147483'],
  [["--interval", "1e3"], '--interval is "1e3"; it can be a number of seconds from 0.1 to 2147483'],
  [["-n", "1.5"], '-n is "1.5"; it can be a whole number from 0 to 1000000000'],
  [["--format", "yaml"], '--format is "yaml"; it can be toml, kdl'],
  [["--env", "1A=x"], '--env is "1A=x"; it is written NAME=value'],
  [["--env", "A"], '--env is "A"; it is written NAME=value'],
  [["--key="], "--key is empty"],
  [["--network", ""], "--network is empty"],
  [[""], "<network> is empty"],
  [["a", "b"], '"b" is one argument too many'],
  [["--interval", "1", "--interval", "2"], '--interval is given twice, with "1" and "2"'],
  [["--network", "a", "--network", "b"], '--network is given twice, with "a" and "b"'],
])("%p is refused", (words, problem) => {
  expect(problemOf(DESCRIBED, words)).toBe(problem);
});

const NEEDY = {
  agent: { type: "positional", required: true, multiple: true, description: "an agent" },
  identity: { type: "string", required: true, valueHint: "id", description: "its name" },
} as const satisfies Arguments;

test("what is required is named when it is missing, unless help is asked for", () => {
  expect(problemOf(NEEDY, [])).toBe("<agent> is missing");
  expect(problemOf(NEEDY, ["a"])).toBe("--identity <id> is missing");
  expect(parseArguments(NEEDY, ["a", "b", "--identity", "x"]).args).toEqual({
    agent: ["a", "b"],
    identity: "x",
  });
  expect(parseArguments(NEEDY, ["--help"]).help).toBe(true);
  expect(parseArguments(NEEDY, ["-v"]).version).toBe(true);
});

test("help is asked for before `--` only", () => {
  expect(["-h", "--help", "-v", "--version"].map((word) => asksFor("help", ["x", word]))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(asksFor("help", ["--", "--help"])).toBe(false);
  expect(asksFor("version", ["-v"])).toBe(true);
});

test("any words either give every described argument, or a usage error", () => {
  const word = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom(
      "--",
      "-",
      "-f",
      "-fn",
      "--once",
      "--interval",
      "--env",
      "A=1",
      "--lines=3",
      "--json",
      "x",
    ),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      if (problemOf(DESCRIBED, words) !== "") return;
      expect(Object.keys(parseArguments(DESCRIBED, words).args)).toEqual(Object.keys(DESCRIBED));
    }),
  );
});

test("the flags of every command are no command's own", () => {
  expect(Object.keys(COMMON_FLAGS)).toEqual(["network", "help", "version"]);
});

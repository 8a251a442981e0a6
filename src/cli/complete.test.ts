import { expect, test } from "bun:test";
import fc from "fast-check";
import { HARNESS_NAMES, ROLES } from "../declaration.ts";
import { ConvoyError } from "../errors.ts";
import { type Arguments, COMMON_FLAGS } from "./command.ts";
import { COMMAND_TABLE } from "./command-table.ts";
import { type Expected, expectedWord } from "./complete.ts";
import { parseArguments } from "./parse.ts";

const COMMANDS = ["help", ...COMMAND_TABLE.map(({ name }) => name)];
const COMMON = ["--network", "--json", "--help", "--version"];

async function expected(line: string) {
  const words = line.split(" ");
  const found = await expectedWord(words.slice(0, -1), words.at(-1)!);
  return { ...found, words: found.words.map(({ value }) => value) };
}

const NOTHING = { before: "", typed: "", words: [], completes: null, taken: [], network: null };

test.each<[string, Partial<Omit<Expected, "words"> & { words: readonly string[] }>]>([
  ["", { words: COMMANDS }],
  ["pe", { typed: "pe", words: COMMANDS }],
  ["help ", { words: COMMANDS.slice(1) }],
  ["help ls ", {}],
  ["-", { typed: "-", words: ["--network", "--json", "--help", "-h", "--version", "-v"] }],
  ["--", { typed: "--", words: COMMON }],
  ["--network ", { completes: "network" }],
  ["--network work ", { words: COMMANDS, network: "work" }],
  ["--network work peek ", { completes: "agent", network: "work" }],
  ["nonsense ", {}],
  ["up ", { completes: "network" }],
  ["up wo", { typed: "wo", completes: "network" }],
  ["up --network=wo", { before: "--network=", typed: "wo", completes: "network" }],
  ["ls work ", { words: COMMON, network: "work" }],
  ["ls work w", { typed: "w", network: "work" }],
  ["ls --json ", { completes: "network" }],
  ["ls --json --", { typed: "--", words: COMMON.filter((flag) => flag !== "--json") }],
  ["down work --agent ", { completes: "agent", network: "work" }],
  ["down --agent a --agent ", { completes: "agent", taken: ["a"] }],
  ["service ", { words: ["install", "uninstall", "status", "print"] }],
  ["service print ", { completes: "network" }],
  ["service print work --on-event ", { completes: "file", network: "work" }],
  ["reset a b ", { completes: "agent", taken: ["a", "b"] }],
  ["peek ", { completes: "agent" }],
  ["peek -- ", { completes: "agent" }],
  ["peek -- -", { typed: "-", completes: "agent" }],
  ["peek fabric ", { words: ["--full", "--ansi", "--follow", "--json", "--network", "--help", "--version"] }],
  ["peek fabric -- ", {}],
  ["logs -n 3 ", { completes: "agent" }],
  ["logs -n3 ", { completes: "agent" }],
  ["logs -fn ", {}],
  ["logs -fn 3 ", { completes: "agent" }],
  ["send fabric ", { words: ["--enter", "--key", "--paste", "--network", "--help", "--version"] }],
  ["send fabric t", { typed: "t" }],
  ["send fabric --key ", { words: expect.arrayContaining(["enter", "esc", "f12"]) as never }],
  ["send fabric -- ", {}],
  ["add ", { words: ROLES }],
  ["add worker --harness ", { words: HARNESS_NAMES }],
  ["add worker --harness=co", { before: "--harness=", typed: "co", words: HARNESS_NAMES }],
  ["add worker --dir ", { completes: "directory" }],
  ["add worker --dir=src/", { before: "--dir=", typed: "src/", completes: "directory" }],
  ["add worker --supervisor ", { completes: "identity" }],
  ["add worker --host ", { completes: "host" }],
  ["add worker --env A=", { typed: "A=" }],
  ["add worker --unknown=", { before: "--unknown=" }],
  ["add worker --force=", { before: "--force=" }],
  ["pretrust src ", { completes: "directory", taken: ["src"] }],
  ["up --on-event ", { completes: "file" }],
  ["completions ", { words: ["bash", "zsh", "fish"] }],
])("convoy %s", async (line, what) => {
  expect(await expected(line)).toEqual({ ...NOTHING, ...(what as object) });
});

test("what is offered is what the parser takes, and all of it", async () => {
  for (const row of COMMAND_TABLE) {
    const { args } = (await row.load()).default;
    const all: Arguments = { ...args, ...COMMON_FLAGS };
    const flags = Object.keys(all).filter((name) => all[name]!.type !== "positional");
    const described = flags.map((name) => `--${name}`);
    const offered = (await expectedWord([row.name], "--")).words.map(({ value }) => value);
    expect([row.name, ...offered.toSorted()]).toEqual([row.name, ...described.toSorted()]);
    for (const flag of offered) {
      const inside = await expectedWord([row.name], `${flag}=`);
      const given = inside.words.map(({ value }) => `${flag}=${value}`);
      const { type } = all[flag.slice(2)]!;
      const other = type === "boolean" ? flag : `${flag}=${type === "pair" ? "A=b" : "9"}`;
      for (const word of given.length > 0 ? given : [other])
        expect(parseArguments(args, [word, "--help"]).help).toBe(true);
    }
  }
});

test("the agent is expected exactly where the parser has found none", async () => {
  const words = fc.constantFrom("a", "b", "-", "--", "--json", "-f", "-fn", "-n3", "3", "--lines=2", "-n");
  const { args } = (await COMMAND_TABLE.find(({ name }) => name === "logs")!.load()).default;
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 6 }), async (line) => {
      const parsed = readable(() => parseArguments(args, ["--help", ...line]));
      const { completes } = await expectedWord(["logs", ...line], "");
      if (parsed !== null) expect([line, completes === "agent"]).toEqual([line, parsed.args.agent === null]);
    }),
  );
});

test("nothing that can be typed makes it throw", async () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom("--", "-", "--network", "add", "--harness", "--=", "-=x"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(word), word, async (before, last) => {
      expect((await expectedWord(before, last)).typed).toBeString();
    }),
  );
});

/** Null for a line that is wrong usage. */
function readable<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ConvoyError && error.code === "usage") return null;
    throw error;
  }
}

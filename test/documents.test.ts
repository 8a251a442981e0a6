/** What the documents name is there: files, links, commands, flags, decisions. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decodeDeclaration } from "../src/catalog/decode.ts";
import { COMMAND_TABLE } from "../src/cli/command-table.ts";
import { parseArguments } from "../src/cli/parse.ts";
import { validateDeclaration } from "../src/declaration-validate.ts";
import { EFFECTS } from "../src/system/effects.ts";
import {
  type Document,
  ROOT,
  readDocument,
  readDocuments,
  shownCommands,
  wordsOf,
} from "./support/documents.ts";

const documents = readDocuments();

test("words of a shell command", () => {
  const table: [string, string[]][] = [
    ["convoy ls", ["convoy", "ls"]],
    [
      `convoy add worker --command 'a; b' --env "K=v w"`,
      ["convoy", "add", "worker", "--command", "a; b", "--env", "K=v w"],
    ],
    ["convoy up \\\n  --once # now", ["convoy", "up", "--once"]],
    ["convoy ls --json | jq .agents", ["convoy", "ls", "--json"]],
  ];
  for (const [command, words] of table) expect(wordsOf(command)).toEqual(words);
});

test("every file that a document names is there", () => {
  const named = /(?<![\w/.~-])(?:src|test|scripts|docs)\/[\w./-]*[\w/]/g;
  const missing = documents.flatMap(({ path, text }) =>
    [...text.matchAll(named)]
      .map(([name]) => name)
      .filter((name) => !existsSync(join(ROOT, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test("every link leads somewhere", () => {
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^https?:/.test(target) && !existsSync(join(ROOT, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  expect(broken).toEqual([]);
});

/** Command lines of convoy in code blocks, with the place they stand at. */
function commandLines({ path, blocks }: Document): { at: string; words: string[] }[] {
  return blocks.flatMap((block) => {
    const language = block.info.split(" ")[0];
    const lines =
      language === "console"
        ? shownCommands(block).map(({ line, command }) => ({ line, command }))
        : language === "sh"
          ? block.text.split("\n").map((command, index) => ({ line: block.line + 1 + index, command }))
          : [];
    return lines
      .map(({ line, command }) => ({ at: `${path}:${line}`, words: wordsOf(command) }))
      .filter(({ words }) => words[0] === "convoy");
  });
}

test("the README's declarations are valid, and the three spellings of one say the same", async () => {
  const declared = readDocument("README.md").blocks.filter(({ info }) =>
    ["toml", "kdl", "json"].includes(info),
  );
  const validations = await Promise.all(
    declared.map(async ({ info, text }) => {
      const decoded = await decodeDeclaration(text, info as "toml" | "kdl" | "json");
      return decoded.kind === "decoded" ? validateDeclaration(decoded.value) : decoded;
    }),
  );
  const [toml, kdl, json, ...others] = validations;
  expect(others.length).toBeGreaterThan(0);
  for (const one of validations) expect(one).toMatchObject({ kind: "declaration", issues: [] });
  expect([kdl, json]).toEqual([toml, toml]);
});

test("every command line in a code block is one that convoy takes", async () => {
  const wrong: string[] = [];
  for (const { at, words } of documents.flatMap(commandLines)) {
    const [name = "ls", ...rest] = words.slice(1);
    if (name.startsWith("--")) continue;
    const row = COMMAND_TABLE.find((one) => one.name === name);
    if (row === undefined) {
      wrong.push(`${at}: no command ${name}`);
      continue;
    }
    try {
      parseArguments((await row.load()).default.args, rest);
    } catch (error) {
      wrong.push(`${at}: ${String(error)}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("every command and flag that a document names between backticks exists", async () => {
  const flags = new Map<string, ReadonlySet<string>>();
  for (const row of COMMAND_TABLE) flags.set(row.name, new Set(Object.keys((await row.load()).default.args)));
  const wrong = documents.flatMap(({ path, text }) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`convoy ([a-z]+)((?: [^`]*)?)`/g)].flatMap(
      ([, name, rest]) => {
        const known = flags.get(name!);
        if (known === undefined) return [`${path}: convoy ${name}`];
        return [...rest!.matchAll(/--([a-z-]+)/g)]
          .map(([, flag]) => flag!)
          .filter((flag) => !known.has(flag) && !["help", "version", "network"].includes(flag))
          .map((flag) => `${path}: convoy ${name} --${flag}`);
      },
    ),
  );
  expect(wrong).toEqual([]);
});

test("the README names every command", () => {
  const { text } = readDocument("README.md");
  const missing = COMMAND_TABLE.map(({ name }) => name).filter(
    (name) => !new RegExp(`convoy ${name}\\b`).test(text),
  );
  expect(missing).toEqual([]);
});

test("the README says what to do in every state that ls shows", () => {
  const source = readFileSync(join(ROOT, "src/agent-state.ts"), "utf8");
  const unions = [...source.matchAll(/export type \w+State =([^;]*);/g)].map(([, union]) => union!).join();
  const states = [...unions.matchAll(/"(\w+)"/g)].map(([, state]) => state!);
  expect(states.length).toBeGreaterThan(10);
  const { text } = readDocument("README.md");
  expect(states.filter((state) => !new RegExp(`^\\|[^|]*\`${state}\``, "m").test(text))).toEqual([]);
});

test("each decision has a number of its own, in its name and its title, and fits on a page", () => {
  const decisions = documents.filter(({ path }) => path.startsWith("docs/decisions/"));
  const wrong = decisions.flatMap(({ path, text }) => {
    const number = /\/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1];
    const problems = [
      ...(number !== undefined && text.startsWith(`# ${Number(number)}. `)
        ? []
        : ["number and title differ"]),
      ...(text.split("\n").length <= 60 ? [] : ["more than 60 lines"]),
    ];
    return problems.map((problem) => `${path}: ${problem}`);
  });
  expect(wrong).toEqual([]);
  const numbers = decisions.map(({ path }) => /\/(\d{4})-/.exec(path)?.[1]);
  expect(numbers).toEqual([...new Set(numbers)]);
});

test("the list of effects in the documents is the one in the code", () => {
  const effects = documents.find(({ path }) => path === "docs/effects.md");
  if (effects === undefined) return;
  const missing = EFFECTS.filter((name) => !effects.text.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

test("documents speak of convoy alone", () => {
  const wrong = documents.flatMap(({ path, text }) => {
    const found = /\/work\/|\bregistry\.npmjs\b|\/home\/(?!you\b)\w+/.exec(text);
    return found === null ? [] : [`${path}: ${found[0]}`];
  });
  expect(wrong).toEqual([]);
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "smol-toml";
import { parseTOML } from "toml-eslint-parser";
import { mergeCodexTrust } from "./trust.ts";

const BLOCK = '[projects."/w"]\ntrust_level = "trusted"\n';
const INLINE = '"/w" = { trust_level = "trusted" }';
const LINE = 'trust_level = "trusted"';

describe("mergeCodexTrust", () => {
  test.each([
    ["no file", null, BLOCK],
    ["an empty file", "", BLOCK],
    [
      "other tables",
      'model = "x" # mine\n\n[a.b]\nc = [\n  1, # one\n]\n',
      `model = "x" # mine\n\n[a.b]\nc = [\n  1, # one\n]\n\n${BLOCK}`,
    ],
    ["no final newline", "a = 1", `a = 1\n\n${BLOCK}`],
    ["an empty line at the end", "a = 1\n\n", `a = 1\n\n${BLOCK}`],
    ["CRLF", "a = 1\r\n", `a = 1\r\n\r\n${BLOCK.replaceAll("\n", "\r\n")}`],
    ["a byte order mark", "\uFEFFa = 1\n", `\uFEFFa = 1\n\n${BLOCK}`],
    ["a fake header in a string", `a = """\n${BLOCK}"""\n`, `a = """\n${BLOCK}"""\n\n${BLOCK}`],
    [
      "an inline projects",
      'projects = { "/a" = {} } # mine\n',
      `projects = { "/a" = {}, ${INLINE} } # mine\n`,
    ],
    ["an empty inline projects", "projects = {}", `projects = { ${INLINE} }`],
    [
      "an inline entry without a level",
      "projects = {'/w' = {x = 1}}",
      `projects = {'/w' = {x = 1, ${LINE}}}`,
    ],
    ["dotted keys in an inline table", "projects = {'/w'.x = 1}", `projects = {'/w'.x = 1, '/w'.${LINE}}`],
    ["a dotted neighbour", 'projects."/a".x = 1\n[t]\n', `projects."/a".x = 1\nprojects."/w".${LINE}\n[t]\n`],
    ["a dotted entry", "projects.'/w'.x = 1 # mine", `projects.'/w'.x = 1 # mine\nprojects.'/w'.${LINE}`],
    ["a dotted inline entry", 'projects."/w" = {}\n', `projects."/w" = { ${LINE} }\n`],
    [
      "entries under [projects]",
      '[projects]\n"/w".x = 1\n[t]\n',
      `[projects]\n"/w".x = 1\n"/w".${LINE}\n[t]\n`,
    ],
    ["neighbours under [projects]", '[projects]\n"/a".x = 1\n', `[projects]\n"/a".x = 1\n\n${BLOCK}`],
    [
      "a header without a level",
      "[projects.'/w'] # mine\nx = 1\n",
      `[projects.'/w'] # mine\n${LINE}\nx = 1\n`,
    ],
    ["a header at the end", '[projects."\\u002Fw"]', `[projects."\\u002Fw"]\n${LINE}`],
    ["a table below it", '[projects."/w".sub]\nx = 1\n', `[projects."/w".sub]\nx = 1\n\n${BLOCK}`],
  ])("adds to %s", (_what, before, after) => {
    const added = { text: after, changed: true, refused: [], added: ["/w"] };
    expect(mergeCodexTrust(before, ["/w", "/w"])).toEqual(added);
    expect(mergeCodexTrust(after, ["/w"])).toEqual({ text: after, changed: false, refused: [], added: [] });
  });

  test.each([
    ["double quotes", `[projects."/w"]\n${LINE}`],
    ["single quotes", `[projects.'/w']\n${LINE}`],
    ["escapes", `["projects"."\\u002Fw"]\ntrust_level = '''trusted'''`],
    ["dotted keys", `projects . "/w" . ${LINE}`],
    ["an inline table", `projects = {${INLINE}}`],
    ["an entry under [projects]", `[projects]\n${INLINE}`],
  ])("recognises an entry in %s", (_what, text) => {
    expect(mergeCodexTrust(text, ["/w"])).toEqual({ text, changed: false, refused: [], added: [] });
  });

  test.each([
    ["untrusted", '[projects."/w"]\ntrust_level = "untrusted"\n'],
    ["a level of another type", '[projects."/w"]\ntrust_level = true\n'],
    ["an entry that is no table", 'projects."/w" = 1\n'],
  ])("leaves %s alone", (_what, text) => {
    expect(mergeCodexTrust(text, ["/w"])).toEqual({ text, changed: false, refused: ["/w"], added: [] });
  });

  test.each([
    ["a key given twice", "a = 1\na = 2\n", "line 2: trying to redefine an already defined table or value"],
    ["a cut", 'a = "x', "line 1: unfinished string"],
    ["projects as a value", "projects = 1\n", '"projects" is not a table'],
    ["projects as an array of tables", "[[projects]]\n", '"projects" is not a table'],
  ])("refuses %s", (_what, text, problem) => {
    expect(mergeCodexTrust(text, ["/w"])).toEqual({ problem });
  });

  test("refuses a path that TOML cannot spell, and adds the others", () => {
    const result = mergeCodexTrust("", ["/\ud800", "/w"]);
    expect(result).toEqual({ text: BLOCK, changed: true, refused: ["/\ud800"], added: ["/w"] });
  });
});

const path = fc.oneof(
  fc.constantFrom("/a", "/b", "/c", "__proto__", "1", "/\x7f\"'\\"),
  fc.string({ unit: "binary" }),
);
const entry = fc.record(
  { trust_level: fc.constantFrom("trusted", "untrusted"), other: fc.constantFrom<unknown>(1, "x", { y: 1 }) },
  { requiredKeys: [] },
);
type Entries = [string, Record<string, unknown>][];
const entries: fc.Arbitrary<Entries> = fc.uniqueArray(fc.tuple(path, entry), {
  selector: ([name]) => name,
  maxLength: 4,
});

/** The spellings that TOML has for one object. */
const SPELLINGS: Record<string, (projects: Entries) => string> = {
  headers: (projects) => projects.map(([name, value]) => `[projects.${key(name)}]\n${lines(value)}`).join(""),
  inline: (projects) =>
    `projects = {${projects.map(([name, value]) => `${key(name)} = ${inline(value)}`).join(", ")}}\n`,
  dotted: (projects) => dotted(projects, "projects."),
  table: (projects) => `[projects]\n${dotted(projects, "")}`,
  members: (projects) =>
    `[projects]\n${projects.map(([name, value]) => `${key(name)} = ${inline(value)}\n`).join("")}`,
  dottedInline: (projects) => `projects = {${dotted(projects, "").trimEnd().replaceAll("\n", ", ")}}\n`,
};

function key(name: string): string {
  return JSON.stringify(name).replaceAll("\x7f", "\\u007f");
}

function lines(value: Record<string, unknown>): string {
  return Object.entries(value)
    .map(([name, inner]) => `${name} = ${spell(inner)}\n`)
    .join("");
}

function spell(value: unknown): string {
  return typeof value === "object" ? inline(value as Record<string, unknown>) : JSON.stringify(value);
}

function inline(value: Record<string, unknown>): string {
  const members = Object.entries(value).map(([name, inner]) => `${name} = ${spell(inner)}`);
  return `{${members.join(", ")}}`;
}

function dotted(projects: Entries, prefix: string): string {
  return projects
    .flatMap(([name, value]) =>
      Object.entries(value).map(([member, inner]) => [name, member, inner] as const),
    )
    .map(([name, member, inner]) => `${prefix}${key(name)}.${member} = ${spell(inner)}\n`)
    .join("");
}

describe("mergeCodexTrust, over any spelling", () => {
  test("adds what is missing, keeps every old value, and a second merge changes nothing", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(SPELLINGS)),
        entries,
        fc.array(path, { minLength: 1 }),
        fc.boolean(),
        (spelling, projects, paths, crlf) => {
          const plain = `top = 1\n${SPELLINGS[spelling]?.(projects)}`;
          const text = crlf ? plain.replaceAll("\n", "\r\n") : plain;
          const result = mergeCodexTrust(text, paths);
          if ("problem" in result) throw new Error(`${result.problem}: ${text}`);
          parseTOML(result.text);
          const before = parse(text).projects as Record<string, { trust_level?: string }> | undefined;
          const after = parse(result.text).projects as Record<string, { trust_level?: string }>;
          for (const name of paths) {
            const old = before?.[name]?.trust_level;
            expect(after[name]?.trust_level).toBe(old ?? "trusted");
            expect(result.refused.includes(name)).toBe(old === "untrusted");
          }
          for (const [name, value] of Object.entries(before ?? {})) expect(after[name]).toMatchObject(value);
          const again = mergeCodexTrust(result.text, paths.toReversed());
          expect(again).toMatchObject({ text: result.text, changed: false, added: [] });
        },
      ),
      { numRuns: 500 },
    );
  });
});

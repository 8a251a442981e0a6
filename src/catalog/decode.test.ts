import { describe, expect, test } from "bun:test";
import { DECLARATION_EXTENSIONS, type DeclarationExtension } from "../leftovers.ts";
import type { ObjectPath } from "../table-reader.ts";
import { decodeDeclaration, textOf } from "./decode.ts";
import { JSON_TEXT, KDL, OBJECT, TOML } from "./decode-fixture.ts";

async function decodedValue(text: string, extension: DeclarationExtension): Promise<unknown> {
  const decoding = await decodeDeclaration(text, extension);
  return decoding.kind === "decoded" ? decoding.value : decoding;
}

async function linesOf(
  text: string,
  extension: DeclarationExtension,
  paths: readonly ObjectPath[],
): Promise<number[]> {
  const decoding = await decodeDeclaration(text, extension);
  if (decoding.kind !== "decoded") throw new Error(decoding.message);
  return await Promise.all(paths.map(async (path) => (await decoding.positionOf(path)).line));
}

const PATHS: readonly ObjectPath[] = [
  ["identity"],
  ["env", "A"],
  ["render", "file", 0],
  ["render", "file", 1, "from"],
  ["pty", "agent"],
  ["pty", "agent", "command"],
  ["pty", "web", "nowhere"],
  ["pty", "web", "tags", "k"],
  ["nowhere"],
];

test.each([
  ["toml", TOML, [2, 4, 6, 7, 10, 11, 15, 18, 1]],
  ["kdl", KDL, [2, 4, 6, 7, 10, 11, 16, 18, 1]],
  ["json", JSON_TEXT, [2, 4, 6, 7, 10, 10, 11, 13, 1]],
] as const)("%s spells the object, and every member has its line", async (extension, text, lines) => {
  for (const variant of [text, `\uFEFF${text}`, text.replaceAll("\n", "\r\n")]) {
    if (extension !== "toml" || !variant.includes("\r\n"))
      expect(await decodedValue(variant, extension)).toEqual(OBJECT);
    expect(await linesOf(variant, extension, PATHS)).toEqual([...lines]);
  }
});

describe("KDL's mapping", () => {
  test.each([
    ['identity "fabric"', { identity: "fabric" }],
    ["retired #true", { retired: true }],
    ["a #null; b", { a: null, b: null }],
    ['tags role="agent"', { tags: { role: "agent" } }],
    ['env { A "1"; B "2" }', { env: { A: "1", B: "2" } }],
    ["env {}", { env: {} }],
    ['pty "agent" { command "x" }', { pty: { agent: { command: "x" } } }],
    ['pty "agent" command="x"', { pty: { agent: { command: "x" } } }],
    [
      'pty { agent { command "x" }; b command="y" }',
      { pty: { agent: { command: "x" }, b: { command: "y" } } },
    ],
    ['pty "b" command="1"\npty "a" command="2"', { pty: { b: { command: "1" }, a: { command: "2" } } }],
    ['pty "a" command="1"\npty "a" command="2"', { pty: { a: [{ command: "1" }, { command: "2" }] } }],
    [
      'file dest="a" from="b"\nfile dest="c" from="d"',
      {
        file: [
          { dest: "a", from: "b" },
          { dest: "c", from: "d" },
        ],
      },
    ],
    ['identity "a"\nidentity "b"', { identity: ["a", "b"] }],
    ["a 1 2", { a: [1, 2] }],
    ['/- role "x"\nidentity "a" /- "b"', { identity: "a" }],
    ['agent "fabric" { role "worker" }', { identity: "fabric", role: "worker" }],
    ['agent "fabric" role="worker"', { identity: "fabric", role: "worker" }],
    ['agent { identity "fabric"; role "worker" }', { identity: "fabric", role: "worker" }],
    ['agent "fabric"', { identity: "fabric" }],
    ['agent "a" { role "worker" }\nx 1', { agent: { a: { role: "worker" } }, x: 1 }],
    ["__proto__ 1", Object.fromEntries([["__proto__", 1]])],
  ] as const)("%s", async (text, value) => {
    expect(await decodedValue(text, "kdl")).toEqual(value);
  });

  test("two agents in one file declare nothing, and that is hinted at", async () => {
    const decoding = await decodeDeclaration(
      'agent "a" { role "worker" }\nagent "b" { role "worker" }',
      "kdl",
    );
    expect(decoding.kind === "decoded" && decoding.hint).toBe(
      "declares nothing: an `agent` node counts only when it is alone in its file",
    );
  });

  test.each([
    ['\nagent "a" "b" { role "worker" }', "`agent` has more than one name"],
    ['\nagent "a" { identity "b" }', "`agent` is named here and has another `identity` inside"],
    ['\npty "a" "b" { command "x" }', "`pty` has a body and must have at most one name before it"],
  ])("%s has no object", async (text, message) => {
    expect(await decodedValue(text, "kdl")).toEqual({ kind: "undecodable", line: 2, message });
  });
});

describe("TOML by the letter", () => {
  test.each([
    ["a = {b = 1}\n[[x]]\ny = 1\n", { a: { b: 1 }, x: [{ y: 1 }] }],
    ["a.b.c = 1\n1.2 = 3\n", { a: { b: { c: 1 } }, 1: { 2: 3 } }],
    ['s = "\\U0001F600"\n', { s: "😀" }],
    ['s = """\na\\\n  b"""\n', { s: "ab" }],
    ["n = 9223372036854775807\n", { n: 9223372036854775807n }],
    ["__proto__ = 1\n", Object.fromEntries([["__proto__", 1]])],
  ])("%p", async (text, value) => {
    expect(await decodedValue(text, "toml")).toEqual(value);
  });

  test("a date is a date", async () => {
    const value = (await decodedValue("d = 1979-05-27T07:32:00Z\n", "toml")) as { d: Date };
    expect([value.d instanceof Date, value.d.getTime()]).toEqual([true, Date.UTC(1979, 4, 27, 7, 32)]);
  });

  test.each([
    ["\na = [1 2]\n", 2, "is not valid TOML: expected comma or end of structure"],
    ["\na = @\n", 2, "is not valid TOML: invalid value"],
    ["[a]\n[b]\n[a]\n", 3, "is not valid TOML: trying to redefine an already defined table or value"],
    ["a = 1\na = 2\n", 2, "is not valid TOML: trying to redefine an already defined table or value"],
  ])("%p is refused", async (text, line, message) => {
    expect(await decodedValue(text, "toml")).toEqual({ kind: "undecodable", line, message });
  });
});

describe("JSON, strictly", () => {
  test.each([
    [
      '{\n  "a": 1,\n}',
      3,
      "is not valid JSON: a quoted member name is expected here (a comma too many before it?)",
    ],
    ['{\n  // x\n  "a": 1\n}', 2, "is not valid JSON: comments are not part of JSON"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, "is not valid JSON: a comma is expected here"],
    ['{\n  "a": "x', 2, "is not valid JSON: a string is not closed"],
    ['{"a": 1}\n{}', 2, "is not valid JSON: there is more after the end of the document"],
    ['{"a": yes}', 1, "is not valid JSON: a word that is not true, false or null"],
    ['{\n  "a": 1,\n  "a": 2\n}', 3, 'has the member "a" twice'],
    ['{"x": [{"b": 1, "b": 1}]}', 1, 'has the member "b" twice'],
  ])("%p is refused", async (text, line, message) => {
    expect(await decodedValue(text, "json")).toEqual({ kind: "undecodable", line, message });
  });
});

test("KDL syntax errors name the line", async () => {
  expect(await decodedValue('identity "a"\nretired true\n', "kdl")).toEqual({
    kind: "undecodable",
    line: 2,
    message:
      'is not valid KDL: Invalid keyword "true", add a leading # to use the keyword or surround with quotes to make it a string',
  });
});

test.each([
  ["kdl", 'identity "a"\nenv {\n', 2],
  ["kdl", 'identity "a"\nenv {\r\n', 2],
  ["kdl", 'identity "a"\nenv {', 2],
  ["kdl", 'identity "a"\n/* x\n', 2],
  ["json", '{\n"a": 1,\n', 2],
  ["toml", "a = [\n1,\n", 2],
] as const)(
  "what is missing at the end of a file is missing in its last line: %s %p",
  async (extension, text, line) => {
    expect(await decodeDeclaration(text, extension)).toMatchObject({ kind: "undecodable", line });
  },
);

test.each([
  ["toml", '# x\n<<<<<<< HEAD\nrole = "worker"\n=======\nrole = "supervisor"\n>>>>>>> theirs\n'],
  ["kdl", '// x\n<<<<<<< HEAD\nrole "worker"\n=======\nrole "supervisor"\n>>>>>>> theirs\n'],
  ["json", '{\n<<<<<<< HEAD\n"role": "worker"\n||||||| base\n=======\n"role": "x"\n>>>>>>> theirs\n}\n'],
] as const)("merge markers in %s are named as such", async (extension, text) => {
  expect(await decodedValue(text, extension)).toEqual({
    kind: "undecodable",
    line: 2,
    message: "has merge conflict markers: keep one side and remove the <<<<<<<, ======= and >>>>>>> lines",
  });
});

test("empty text is a document without members in every format", async () => {
  for (const extension of DECLARATION_EXTENSIONS)
    for (const text of ["", "\uFEFF", " \n\n"]) expect(await decodedValue(text, extension)).toEqual({});
});

test("nesting without end is refused, not a crash", async () => {
  const texts = { toml: `a = ${"[".repeat(200_000)}`, kdl: "a{".repeat(200_000), json: "[".repeat(200_000) };
  for (const extension of DECLARATION_EXTENSIONS)
    expect(await decodedValue(texts[extension], extension)).toMatchObject({ kind: "undecodable" });
});

test("bytes that are not UTF-8 are not text", () => {
  expect(textOf(new Uint8Array([0x61, 0xff]))).toEqual({ problem: "is not UTF-8 text" });
  expect(textOf(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toEqual({ text: "\uFEFFa" });
});

test("JSON nested too deeply is refused in words", async () => {
  const text = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  expect(await decodeDeclaration(text, "json")).toEqual({
    kind: "undecodable",
    line: null,
    message: "is not valid JSON: it is nested too deeply",
  });
});

test("a key of a hundred parts and more is refused at once, with its line", async () => {
  const key = Array(20_000).fill("a").join(".");
  const startedMs = performance.now();
  expect(await decodeDeclaration(`identity = "a"\n${key} = 1\n`, "toml")).toEqual({
    kind: "undecodable",
    line: 2,
    message: "has a key with more than 100 parts",
  });
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  const fine = `${Array(99).fill("a").join(".")} = 1\n`;
  expect((await decodeDeclaration(fine, "toml")).kind).toBe("decoded");
});

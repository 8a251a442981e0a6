import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import fc from "fast-check";
import { type DeclarationFields, formatDeclaration } from "../declaration-format.ts";
import { DECLARATION_EXTENSIONS } from "../leftovers.ts";
import { decodeDeclaration } from "./decode.ts";
import { type EditResult, setRetired } from "./edit.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync("/tmp/cv-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function edit(name: string, text: string, retired: boolean): Promise<[EditResult["kind"], string]> {
  const file = join(dir, name);
  writeFileSync(file, text);
  const { kind } = await setRetired(file, retired);
  return [kind, readFileSync(file, "utf8")];
}

const TOML_CASES: readonly (readonly [string, string, string])[] = [
  [
    "an existing value",
    '# top\nretired = false # not yet\nidentity = "a" # who\nrole="worker"\n\n[env]\nretired = "x"\n',
    '# top\nretired = true # not yet\nidentity = "a" # who\nrole="worker"\n\n[env]\nretired = "x"\n',
  ],
  ["a quoted name", 'identity = "a"\n"retired"=false', 'identity = "a"\n"retired"=true'],
  [
    "before the first table",
    'identity = "a"\n  role = "worker" # c\n\n# env\n[env]\nA = "1"\n',
    'identity = "a"\n  role = "worker" # c\n  retired = true\n\n# env\n[env]\nA = "1"\n',
  ],
  [
    "CRLF",
    'identity = "a"\r\nrole = "worker"\r\n\r\n[env]\r\n',
    'identity = "a"\r\nrole = "worker"\r\nretired = true\r\n\r\n[env]\r\n',
  ],
  ["no final newline", 'identity = "a"\nrole = "worker"', 'identity = "a"\nrole = "worker"\nretired = true'],
  [
    "a byte order mark",
    '\uFEFFidentity = "a"\nrole = "worker"\n',
    '\uFEFFidentity = "a"\nrole = "worker"\nretired = true\n',
  ],
  [
    "after a value of several lines",
    'identity = "a"\nrole = "worker"\npersona = """\n[x]\n"""\n[env]\n',
    'identity = "a"\nrole = "worker"\npersona = """\n[x]\n"""\nretired = true\n[env]\n',
  ],
];

const KDL_CASES: readonly (readonly [string, string, string])[] = [
  [
    "an existing value",
    '/* x */ retired   #false // no\nidentity "a"\n',
    '/* x */ retired   #true // no\nidentity "a"\n',
  ],
  [
    "inside the lone agent node",
    'agent "a" { // who\n\trole "worker" // what\n\tenv { A "1"; }\n}\n',
    'agent "a" { // who\n\trole "worker" // what\n\tretired #true\n\tenv { A "1"; }\n}\n',
  ],
  [
    "its value inside the lone agent node",
    'agent "a" {\n  retired (bool)#false; role "worker"\n}',
    'agent "a" {\n  retired (bool)#true; role "worker"\n}',
  ],
  [
    "on one line",
    'agent "a" { role "worker"; env { A "1"; }; }\n',
    'agent "a" { role "worker"; retired #true; env { A "1"; }; }\n',
  ],
  ["as a property", 'agent "a" role="worker" // c\n', 'agent "a" role="worker" retired=#true // c\n'],
  ["in a property", 'agent "a" retired=#false role="worker"\n', 'agent "a" retired=#true role="worker"\n'],
  ["an emptied body", 'agent "a" role="worker" {\n}\n', 'agent "a" role="worker" retired=#true {\n}\n'],
  [
    "CRLF",
    'identity "a"\r\nrole "worker"\r\nenv {\r\n}\r\n',
    'identity "a"\r\nrole "worker"\r\nretired #true\r\nenv {\r\n}\r\n',
  ],
  ["no final newline", 'identity "a"\nrole "worker"', 'identity "a"\nrole "worker"\nretired #true'],
  [
    "a commented-out member",
    '/-retired #false\nidentity "a"\nrole "worker"\n',
    '/-retired #false\nidentity "a"\nrole "worker"\nretired #true\n',
  ],
  [
    "a comment that goes on",
    'identity "a"\nrole "worker" /* a\nb */\nenv {\n}\n',
    'identity "a"\nrole "worker" /* a\nb */\nretired #true\nenv {\n}\n',
  ],
];

const JSON_CASES: readonly (readonly [string, string, string])[] = [
  ["an existing value", '{ "retired" :false, "identity": "a" }', '{ "retired" :true, "identity": "a" }'],
  [
    "in its layout",
    '{\n\t"identity" : "a",\n\t"env": {\n\t}\n}\n',
    '{\n\t"identity" : "a",\n\t"env": {\n\t},\n\t"retired": true\n}\n',
  ],
  ["minified", '{"identity":"a","role":"worker"}', '{"identity":"a","role":"worker","retired":true}'],
  [
    "CRLF and a byte order mark",
    '\uFEFF{\r\n  "identity": "a"\r\n}\r\n',
    '\uFEFF{\r\n  "identity": "a",\r\n  "retired": true\r\n}\r\n',
  ],
  [
    "large numbers",
    '{"n": 12345678901234567890, "10": 1, "2": 1}',
    '{"n": 12345678901234567890, "10": 1, "2": 1, "retired": true}',
  ],
  ["a string for a value", '{"retired": "no"}', '{"retired": true}'],
];

describe.each([
  ["toml", TOML_CASES],
  ["kdl", KDL_CASES],
  ["json", JSON_CASES],
] as const)("retire in %s", (extension, cases) => {
  test.each([...cases])("%s", async (_, before, after) => {
    expect(await edit(`agent.${extension}`, before, true)).toEqual(["changed", after]);
    expect(await edit(`agent.${extension}`, after, true)).toEqual(["unchanged", after]);
    const [kind, text] = await edit(`agent.${extension}`, after, false);
    expect([kind, text.length - after.length]).toEqual(["changed", 1]);
    expect(await edit(`agent.${extension}`, text, true)).toEqual(["changed", after]);
    expect(await edit(`agent.${extension}`, text, false)).toEqual(["unchanged", text]);
  });
});

test("without the member there is nothing to unretire", async () => {
  expect(await edit("a.toml", 'identity = "a"\n', false)).toEqual(["unchanged", 'identity = "a"\n']);
});

test.each([
  ["a.toml", "identity = \n", { line: 1, message: "is not valid TOML: invalid value" }],
  [
    "a.toml",
    "[retired]\nx = 1\n",
    { line: null, message: "has a layout that cannot be edited safely: set retired by hand" },
  ],
  [
    "a.kdl",
    'identity "a"\nretired #true\nretired #false\n',
    { line: null, message: "has a layout that cannot be edited safely: set retired by hand" },
  ],
  ["a.json", "[]", { line: null, message: "is not a declaration: it is not a table of members" }],
  ["a.txt", "", { line: null, message: "is not a declaration: its name ends in none of .toml, .kdl, .json" }],
] as const)("%s %p is refused and left", async (name, text, refusal) => {
  const file = join(dir, name);
  writeFileSync(file, text);
  const result = await setRetired(file, true);
  expect(result).toEqual({ kind: "refused", ...refusal });
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a missing file is refused", async () => {
  expect(await setRetired(join(dir, "x.toml"), true)).toMatchObject({ kind: "refused", line: null });
});

test("the link, its target's mode and owner stay; no other file is left", async () => {
  const file = join(dir, "real.toml");
  const link = join(dir, "agent.toml");
  writeFileSync(file, 'identity = "a"\n');
  chmodSync(file, 0o666);
  if (process.getuid?.() === 0) chownSync(file, 12345, 12345);
  const before = statSync(file);
  symlinkSync("real.toml", link);
  expect(await setRetired(link, true)).toEqual({ kind: "changed" });
  expect([lstatSync(link).isSymbolicLink(), readlinkSync(link)]).toEqual([true, "real.toml"]);
  const after = statSync(file);
  expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
  expect(readdirSync(dir).sort()).toEqual(["agent.toml", "real.toml"]);
});

test("nothing to change is nothing written", async () => {
  const file = join(dir, "a.toml");
  writeFileSync(file, "retired = true\n");
  utimesSync(file, 1, 1);
  const { ino } = statSync(file);
  expect(await setRetired(file, true)).toEqual({ kind: "unchanged" });
  expect([statSync(file).ino, statSync(file).mtimeMs]).toEqual([ino, 1000]);
});

const fields: fc.Arbitrary<DeclarationFields> = fc.record(
  {
    role: fc.constant("worker"),
    retired: fc.boolean(),
    persona: fc.string({ unit: "binary" }).map((text) => `x${text}`.replaceAll("\0", "").toWellFormed()),
    env: fc.dictionary(fc.stringMatching(/^[a-z"# ]+$/), fc.string()),
    command: fc.constant("retired = false\n[x]"),
  },
  { requiredKeys: ["role"] },
);

test("any declaration, retired and back, says the same else", async () => {
  await fc.assert(
    fc.asyncProperty(fields, fc.boolean(), async (written, crlf) => {
      for (const extension of DECLARATION_EXTENSIONS) {
        const file = join(dir, `agent.${extension}`);
        const text = formatDeclaration(extension, "box", "a", written).replaceAll("\n", crlf ? "\r\n" : "\n");
        writeFileSync(file, text);
        const before = await decodeDeclaration(text, extension);
        for (const retired of [true, false, true]) {
          expect((await setRetired(file, retired)).kind).not.toBe("refused");
          const after = await decodeDeclaration(readFileSync(file, "utf8"), extension);
          if (before.kind !== "decoded" || after.kind !== "decoded") throw new Error("does not decode");
          const { retired: said, ...rest } = after.value as Record<string, unknown>;
          const { retired: _, ...old } = before.value as Record<string, unknown>;
          expect([said ?? false, rest]).toEqual([retired, old]);
        }
      }
    }),
    { numRuns: 60 },
  );
});

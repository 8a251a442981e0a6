/** docs/requirements.md and the tests that it names: every requirement has one, every named test exists. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readDocument } from "./support/documents.ts";

const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `SUP-${letter}${String(index + 1).padStart(2, "0")}`);
/** Every line of the supervision requirements. */
const LINES = [...numbered("A", 2), ...numbered("C", 3), ...numbered("T", 2), ...numbered("R", 17)];

/** Names of the tests in a file; what a test's cases differ in is `…`. */
function testNames(path: string): string[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  const calls = text.matchAll(/\b(?:test|skippable)\(\s*(["`])((?:(?!\1)[^\\]|\\.)*)\1/g);
  return [...calls].map(([, , name = ""]) => name.replaceAll(/\$\{[^}]*\}/g, "…").replaceAll("\\`", "`"));
}

/** `SUP-R13 SUP-T01: name` in its parts; no lines for a test that claims none. */
function readName(full: string): { lines: string[]; name: string } {
  const [, claims, name] = /^((?:SUP-[A-Z]\d\d ?)+): (.*)$/s.exec(full) ?? [];
  return claims === undefined ? { lines: [], name: full } : { lines: claims.split(" "), name: name ?? "" };
}

/** `line file name` of every test that the document names. */
function documented(): string[] {
  let line = "";
  let file = "";
  const found: string[] = [];
  for (const text of readDocument("docs/requirements.md").text.split("\n")) {
    line = /^## (SUP-\w+): ./.exec(text)?.[1] ?? line;
    file = /^- `(.*)`$/.exec(text)?.[1] ?? file;
    const name = /^ {2}- (.*)$/.exec(text)?.[1];
    if (name !== undefined) found.push(`${line} ${file} ${name}`);
  }
  return found;
}

const ends = readdirSync(join(ROOT, "test/e2e"))
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/e2e/${name}`);
const proofs = ends.flatMap((file) =>
  testNames(file)
    .map(readName)
    .flatMap(({ lines, name }) => lines.map((line) => ({ line, file, name }))),
);

test("every requirement stands in the document, once and in order", () => {
  const headings = [...readDocument("docs/requirements.md").text.matchAll(/^## (SUP-\w+): ./gm)];
  expect(headings.map(([, line]) => line)).toEqual(LINES);
});

test("every requirement is proven on the binary, and every claim of a test is of a requirement", () => {
  expect(LINES.filter((line) => !proofs.some((proof) => proof.line === line))).toEqual([]);
  expect(proofs.filter(({ line }) => !LINES.includes(line))).toEqual([]);
});

test("the document names every test that claims a line, and no test that is not there", () => {
  const claimed = proofs.map(({ line, file, name }) => `${line} ${file} ${name}`);
  const named = documented();
  expect(claimed.filter((one) => !named.includes(one))).toEqual([]);
  const others = named.filter((one) => !claimed.includes(one));
  const missing = others.filter((one) => {
    const [, file = "", name = ""] = /^\S+ (\S+) (.*)$/.exec(one) ?? [];
    return file.startsWith("test/e2e/") || !testNames(file).includes(name);
  });
  expect(missing).toEqual([]);
  expect(named).toEqual([...new Set(named)]);
});

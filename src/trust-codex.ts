/** Codex's record of trusted folders: `[projects."<real path>"]` with `trust_level` in `config.toml` (formats §8). */
import type { Edit } from "jsonc-parser";
import { parse as parseToml, TomlError, type TomlTable } from "smol-toml";
import type { AST } from "toml-eslint-parser";
import { jsoncParser, tomlSyntax } from "./libraries.ts";

const LEVEL = "trust_level";
const TRUSTED = `${LEVEL} = "trusted"`;
const BOM = "\uFEFF";

/**
 * `refused` are the workspaces that the file already says something else about, left as they are; `added` those that
 * had no level before, in the order asked.
 */
export type CodexTrust =
  | {
      readonly text: string;
      readonly changed: boolean;
      readonly refused: string[];
      readonly added: string[];
    }
  | { readonly problem: string };

/**
 * Marks `workspaces` (real paths) as trusted in the text of Codex's config; null is a new file. An entry is recognised
 * in every spelling that TOML has for it. Nothing but the new lines changes. A text that two parsers do not both take,
 * before and after, with the old values and the new ones, is answered with the reason, for a person.
 */
export function mergeCodexTrust(text: string | null, workspaces: readonly string[]): CodexTrust {
  const before = text ?? "";
  const mark = before.startsWith(BOM) ? BOM : "";
  const body = before.slice(mark.length);
  try {
    const document = parseDocument(body);
    const projects = document.projects ?? {};
    if (!isTable(projects)) return { problem: '"projects" is not a table' };
    const wanted = [...new Set(workspaces)];
    const refused = wanted.filter((workspace) => !mayBeTrusted(projects, workspace));
    const added = wanted.filter(
      (workspace) => !refused.includes(workspace) && !hasLevel(projects, workspace),
    );
    if (added.length === 0) return { text: before, changed: false, refused, added };
    const after = jsoncParser().applyEdits(body, planEdits(body, added));
    tomlSyntax().parseTOML(after);
    if (!Bun.deepEquals(parseDocument(after), withTrust(document, added), true)) {
      return { problem: "no edit was found that keeps every old value" };
    }
    return { text: mark + after, changed: true, refused, added };
  } catch (error) {
    const problem = syntaxProblem(error);
    if (problem === null) throw error;
    return { problem };
  }
}

function parseDocument(body: string): TomlTable {
  return parseToml(body, { integersAsBigInt: true });
}

/** What a parser said; null for any other error. smol-toml's message goes on with a piece of the source. */
function syntaxProblem(error: unknown): string | null {
  if (error instanceof RangeError) return "nested too deeply to be edited";
  if (error instanceof tomlSyntax().ParseError) return `line ${error.lineNumber}: ${error.message}`;
  if (!(error instanceof TomlError)) return null;
  const reason = error.message.split("\n")[0] ?? "";
  return `line ${error.line}: ${reason.replace("Invalid TOML document: ", "")}`;
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** False where the file holds another level, or no table at all; a path that TOML cannot spell is refused too. */
function mayBeTrusted(projects: TomlTable, workspace: string): boolean {
  if (!Object.hasOwn(projects, workspace)) return workspace.isWellFormed();
  const entry = projects[workspace];
  return isTable(entry) && (!Object.hasOwn(entry, LEVEL) || entry[LEVEL] === "trusted");
}

function hasLevel(projects: TomlTable, workspace: string): boolean {
  const entry = Object.hasOwn(projects, workspace) ? projects[workspace] : undefined;
  return isTable(entry) && Object.hasOwn(entry, LEVEL);
}

/** The values that the edited text must have. smol-toml's tables have no prototype, so any name is a member. */
function withTrust(document: TomlTable, workspaces: readonly string[]): TomlTable {
  const projects = tableIn(document, "projects");
  for (const workspace of workspaces) tableIn(projects, workspace)[LEVEL] = "trusted";
  return document;
}

function tableIn(table: TomlTable, name: string): TomlTable {
  const found = table[name];
  if (isTable(found)) return found;
  const made: TomlTable = Object.create(null);
  table[name] = made;
  return made;
}

/** Where one entry goes: into an inline table, on a line after `offset`, or as a table of its own at the end. */
type Place =
  | { readonly at: "inline"; readonly table: AST.TOMLInlineTable; readonly text: string }
  | { readonly at: "line"; readonly offset: number; readonly text: string }
  | { readonly at: "end"; readonly text: string };

function planEdits(body: string, workspaces: readonly string[]): Edit[] {
  const newline = /\r?\n/.exec(body)?.[0] ?? "\n";
  const statements = tomlSyntax().parseTOML(body).body[0].body;
  const places = workspaces.map((workspace) => placeOf(body, statements, workspace, newline));
  const inline = Map.groupBy(
    places.filter((place) => place.at === "inline"),
    (place) => place.table,
  );
  const ends = places.filter((place) => place.at === "end").map((place) => place.text);
  return [
    ...[...inline].map(([table, inside]) =>
      editInline(
        table,
        inside.map((place) => place.text),
      ),
    ),
    ...places.filter((place) => place.at === "line").map((place) => editLine(body, place, newline)),
    ...(ends.length === 0 ? [] : [appendBlocks(body, ends, newline)]),
  ];
}

type Statement = AST.TOMLKeyValue | AST.TOMLTable;

/**
 * TOML lets a table be continued only where, and as, it was begun: an inline table inside its braces, one made by
 * dotted keys by more dotted keys in the same place, one with a header under that header.
 */
function placeOf(body: string, statements: readonly Statement[], workspace: string, newline: string): Place {
  const key = formatKey(workspace);
  let sibling: AST.TOMLKeyValue | null = null;
  for (const { container, pair } of pairsOf(statements)) {
    const path = [...container, ...namesOf(pair.key)];
    if (path[0] !== "projects") continue;
    if (path.length === 1 && pair.value.type === "TOMLInlineTable")
      return placeInside(body, pair.value, workspace);
    if (path[1] === workspace) {
      if (path.length === 2 && pair.value.type === "TOMLInlineTable") {
        return { at: "inline", table: pair.value, text: TRUSTED };
      }
      if (container.length < 2) return dottedAfter(body, pair, 2 - container.length, "");
    }
    if (container.length === 0) sibling = pair;
  }
  const header = statements.find((item) => item.type === "TOMLTable" && isHeaderOf(item, workspace));
  if (header !== undefined) return { at: "line", offset: header.key.range[1], text: TRUSTED };
  if (sibling !== null) return dottedAfter(body, sibling, 1, `.${key}`);
  return { at: "end", text: `[projects.${key}]${newline}${TRUSTED}${newline}` };
}

/** A dotted line after `pair`, that begins with the first `count` parts of its key, spelled as they are there. */
function dottedAfter(body: string, pair: AST.TOMLKeyValue, count: number, more: string): Place {
  const last = pair.key.keys[count - 1] ?? pair.key;
  const prefix = body.slice(pair.range[0], last.range[1]);
  return { at: "line", offset: pair.range[1], text: `${prefix}${more}.${TRUSTED}` };
}

/** Inside `projects = { … }`. */
function placeInside(body: string, projects: AST.TOMLInlineTable, workspace: string): Place {
  const own = projects.body.find((pair) => namesOf(pair.key)[0] === workspace);
  const first = own?.key.keys[0];
  if (own === undefined || first === undefined) {
    return { at: "inline", table: projects, text: `${formatKey(workspace)} = { ${TRUSTED} }` };
  }
  if (own.key.keys.length === 1 && own.value.type === "TOMLInlineTable") {
    return { at: "inline", table: own.value, text: TRUSTED };
  }
  return { at: "inline", table: projects, text: `${body.slice(...first.range)}.${TRUSTED}` };
}

/** Every key with a value outside inline tables, and the path of the table that it stands in. */
function* pairsOf(statements: readonly Statement[]) {
  for (const statement of statements) {
    if (statement.type === "TOMLKeyValue") yield { container: [], pair: statement };
    else for (const pair of statement.body) yield { container: statement.resolvedKey, pair };
  }
}

function namesOf(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

function isHeaderOf(table: AST.TOMLTable, workspace: string): boolean {
  const [first, second, ...rest] = table.resolvedKey;
  return first === "projects" && second === workspace && rest.length === 0;
}

/** A basic string: JSON's escapes are TOML's, and TOML wants one more character escaped. */
function formatKey(workspace: string): string {
  return JSON.stringify(workspace).replaceAll("\x7f", "\\u007f");
}

function editInline(table: AST.TOMLInlineTable, texts: readonly string[]): Edit {
  const last = table.body.at(-1);
  if (last !== undefined) {
    return { offset: last.range[1], length: 0, content: texts.map((text) => `, ${text}`).join("") };
  }
  const [start, end] = table.range;
  return { offset: start, length: end - start, content: `{ ${texts.join(", ")} }` };
}

function editLine(body: string, place: { offset: number; text: string }, newline: string): Edit {
  const end = body.indexOf("\n", place.offset);
  if (end < 0) return { offset: body.length, length: 0, content: newline + place.text };
  return { offset: end + 1, length: 0, content: place.text + newline };
}

/** Blocks apart from what stands before them, and from each other, by an empty line. */
function appendBlocks(body: string, blocks: readonly string[], newline: string): Edit {
  const ended = body === "" || body.endsWith("\n");
  const apart = body === "" || /\n\r?\n$/.test(body);
  const lead = (ended ? "" : newline) + (apart ? "" : newline);
  return { offset: body.length, length: 0, content: lead + blocks.join(newline) };
}

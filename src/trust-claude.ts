/** Claude Code's record of trusted folders: `projects.<real path>.hasTrustDialogAccepted` in `.claude.json` (formats §8). */
import type { Edit, Node } from "jsonc-parser";
import { messageOf } from "./errors.ts";
import { jsoncParser } from "./libraries.ts";

const FLAG = "hasTrustDialogAccepted";
const BOM = "\uFEFF";

/** `added` are the workspaces that were not trusted before, in the order asked. */
export type ClaudeTrust =
  | { readonly text: string; readonly changed: boolean; readonly added: string[] }
  | { readonly problem: string };

type JsonObject = Readonly<Record<string, unknown>>;

/** How the document is laid out, taken from its first member. */
interface Layout {
  /** Empty when members follow each other on one line. */
  readonly newline: string;
  readonly indent: string;
}

/**
 * Marks `workspaces` (real paths) as trusted in the text of Claude Code's config; null or an empty text is a new file.
 * Every byte that need not change is kept. A text that is not strict JSON, or holds something else where the trust
 * belongs, is answered with the reason, for a person (with the line where one can be named).
 */
export function mergeClaudeTrust(text: string | null, workspaces: readonly string[]): ClaudeTrust {
  const wanted = [...new Set(workspaces)];
  const before = text ?? "";
  if (wanted.length === 0) return { text: before, changed: false, added: [] };
  const mark = before.startsWith(BOM) ? BOM : "";
  const body = before.slice(mark.length);
  if (body.trim() === "") return { text: `${mark}${newDocument(wanted)}`, changed: true, added: wanted };
  try {
    const read = parseProjects(body);
    if ("problem" in read) return read;
    const added = wanted.filter((workspace) => !isTrusted(read.projects, workspace));
    if (added.length === 0) return { text: before, changed: false, added };
    const after = withTrust(body, added);
    return typeof after === "string" ? { text: mark + after, changed: true, added } : after;
  } catch (error) {
    if (error instanceof RangeError) return { problem: "nested too deeply to be edited" };
    throw error;
  }
}

function newDocument(workspaces: readonly string[]): string {
  const projects = Object.fromEntries(workspaces.map((workspace) => [workspace, { [FLAG]: true }]));
  return `${JSON.stringify({ projects }, null, 2)}\n`;
}

/** The `projects` object as the program itself reads it: of members with one name the last counts. */
function parseProjects(body: string): { projects: JsonObject } | { problem: string } {
  let root: unknown;
  try {
    root = JSON.parse(body);
  } catch (error) {
    return { problem: syntaxProblem(body) ?? messageOf(error) };
  }
  if (!isObject(root)) return { problem: "the top level is not an object" };
  const projects = member(root, "projects") ?? (Object.hasOwn(root, "projects") ? null : {});
  if (!isObject(projects)) return { problem: '"projects" is not an object' };
  return { projects };
}

/** Where and why a text is not strict JSON; null when this parser finds no fault. */
function syntaxProblem(body: string): string | null {
  const { printParseErrorCode, visit } = jsoncParser();
  let found: string | null = null;
  const onError = (code: number, _offset: number, _length: number, line: number): void => {
    const words = printParseErrorCode(code).replaceAll(/(?<=.)([A-Z])/g, " $1");
    found ??= `line ${line + 1}: ${words.toLowerCase()}`;
  };
  visit(body, { onError }, { disallowComments: true, allowTrailingComma: false });
  return found;
}

function isTrusted(projects: JsonObject, workspace: string): boolean {
  const entry = member(projects, workspace);
  return isObject(entry) && member(entry, FLAG) === true;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** One parse, one list of edits, one application, whatever the number of workspaces: the file may have 20 MB. */
function withTrust(body: string, workspaces: readonly string[]): string | { problem: string } {
  const root = jsoncParser().parseTree(body);
  if (root === undefined) return { problem: "the text could not be parsed" };
  const edits = planEdits(body, root, workspaces);
  if (!Array.isArray(edits)) return edits;
  const after = jsoncParser().applyEdits(body, edits);
  const check = parseProjects(after);
  if ("problem" in check || !workspaces.every((workspace) => isTrusted(check.projects, workspace))) {
    return { problem: "no edit was found that leaves a valid file" };
  }
  return after;
}

function planEdits(
  body: string,
  root: Node,
  workspaces: readonly string[],
): Edit[] | { readonly problem: string } {
  const layout = layoutOf(body, root);
  const projects = memberNode(root, "projects");
  const entryOf = (path: string): [string, unknown] => [path, { [FLAG]: true }];
  if (projects === null) {
    const members = Object.fromEntries(workspaces.map(entryOf));
    return [insertMembers(body, layout, root, [["projects", members]])];
  }
  const entries = new Map((projects.children ?? []).map((property) => [nameOf(property), property]));
  const edits: Edit[] = [];
  const absent: string[] = [];
  for (const workspace of workspaces) {
    const entry = entries.get(workspace)?.children?.[1];
    if (entry === undefined) {
      absent.push(workspace);
      continue;
    }
    const edit = editEntry(body, layout, entry);
    if (edit === null) {
      return { problem: `the entry of ${JSON.stringify(workspace)} in "projects" has an unknown form` };
    }
    edits.push(edit);
  }
  if (absent.length > 0) edits.push(insertMembers(body, layout, projects, absent.map(entryOf)));
  return edits;
}

/** Null when the entry, or what stands for the flag in it, is not of the program's own form. */
function editEntry(body: string, layout: Layout, entry: Node): Edit | null {
  if (entry.type !== "object") return null;
  const flag = memberNode(entry, FLAG);
  if (flag === null) return insertMembers(body, layout, entry, [[FLAG, true]]);
  return flag.type === "boolean" ? { offset: flag.offset, length: flag.length, content: "true" } : null;
}

function nameOf(property: Node): unknown {
  return property.children?.[0]?.value;
}

/** The value of the last member of that name. */
function memberNode(object: Node, name: string): Node | null {
  return object.children?.findLast((property) => nameOf(property) === name)?.children?.[1] ?? null;
}

function layoutOf(body: string, root: Node): Layout {
  const first = root.children?.[0];
  const lead = body.slice(root.offset + 1, first?.offset);
  const newline = lead.includes("\r\n") ? "\r\n" : "\n";
  if (first === undefined) return { newline, indent: "  " };
  if (!lead.includes("\n")) return { newline: "", indent: "" };
  return { newline, indent: lead.slice(lead.lastIndexOf("\n") + 1) };
}

/** Adds members at the end of an object, laid out like the one before them. */
function insertMembers(
  body: string,
  layout: Layout,
  object: Node,
  members: readonly (readonly [string, unknown])[],
): Edit {
  const last = object.children?.at(-1);
  if (last !== undefined) {
    const lead = whitespaceBefore(body, last.offset);
    const cut = lead.lastIndexOf("\n");
    const multiline = cut >= 0 && layout.newline !== "";
    const inner = multiline ? layout.newline + lead.slice(cut + 1) : "";
    const gap = multiline ? inner : lead;
    const content = members.map((pair) => `,${gap}${formatMember(pair, inner, layout)}`).join("");
    return { offset: last.offset + last.length, length: 0, content };
  }
  const outer = layout.newline === "" ? "" : layout.newline + lineIndent(body, object.offset);
  const inner = outer + layout.indent;
  const content = members.map((pair) => inner + formatMember(pair, inner, layout)).join(",");
  return { offset: object.offset, length: object.length, content: `{${content}${outer}}` };
}

/** `inner` is the line break and indentation before the member; empty for a member on one line with its neighbours. */
function formatMember([name, value]: readonly [string, unknown], inner: string, layout: Layout): string {
  if (inner === "") return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const lines = JSON.stringify(value, null, "\t").split("\n");
  const indented = lines.map((line) => line.replace(/^\t*/, (tabs) => layout.indent.repeat(tabs.length)));
  return `${JSON.stringify(name)}: ${indented.join(inner)}`;
}

function whitespaceBefore(body: string, offset: number): string {
  let start = offset;
  while (start > 0 && " \t\r\n".includes(body[start - 1] ?? "x")) start -= 1;
  return body.slice(start, offset);
}

function lineIndent(body: string, offset: number): string {
  const start = body.lastIndexOf("\n", offset) + 1;
  let end = start;
  while (body[end] === " " || body[end] === "\t") end += 1;
  return body.slice(start, end);
}

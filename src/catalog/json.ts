/** Strict JSON to a plain object: no comments, no trailing commas, no member written twice. */
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { messageOf } from "../errors.ts";
import type { ObjectPath } from "../table-reader.ts";
import { type Decoding, lineAt, Positions } from "./decoding.ts";

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: "a word that is not true, false or null",
  InvalidNumberFormat: "a malformed number",
  PropertyNameExpected: "a quoted member name is expected here (a comma too many before it?)",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is expected here",
  CommaExpected: "a comma is expected here",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is more after the end of the document",
  InvalidCommentToken: "comments are not part of JSON",
  UnexpectedEndOfComment: "comments are not part of JSON",
  UnexpectedEndOfString: "a string is not closed",
  UnexpectedEndOfNumber: "a malformed number",
  InvalidUnicode: "a malformed \\u escape",
  InvalidEscapeCharacter: "an unknown \\ escape",
  InvalidCharacter: "a control character inside a string",
};

/** `text` without a byte order mark. */
export function decodeJson(text: string): Decoding {
  const errors: ParseError[] = [];
  let value: unknown;
  let tree: Node | undefined;
  try {
    tree = parseTree(text, errors, {
      disallowComments: true,
      allowTrailingComma: false,
      allowEmptyContent: false,
    });
    const first = errors[0];
    if (first !== undefined) {
      const reason = REASONS[printParseErrorCode(first.error)] ?? "a syntax error";
      return {
        kind: "undecodable",
        line: lineAt(text, first.offset),
        message: `is not valid JSON: ${reason}`,
      };
    }
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof RangeError ? "it is nested too deeply" : messageOf(error);
    return { kind: "undecodable", line: null, message: `is not valid JSON: ${reason}` };
  }
  const twice = tree === undefined ? null : duplicateIn(tree);
  if (twice !== null)
    return {
      kind: "undecodable",
      line: lineAt(text, twice.offset),
      message: `has the member ${JSON.stringify(twice.value)} twice`,
    };
  let positions: Positions | null = null;
  return {
    kind: "decoded",
    value,
    hint: null,
    async positionOf(path) {
      positions ??= jsonPositions(text, tree);
      return positions.nearest(path);
    },
  };
}

/** The name of a member that its object has already, or null. */
function duplicateIn(node: Node): Node | null {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    if (node.type === "object") {
      const name = child.children![0]!;
      if (seen.has(name.value)) return name;
      seen.add(name.value);
    }
    const inside = duplicateIn(child);
    if (inside !== null) return inside;
  }
  return null;
}

function jsonPositions(text: string, tree: Node | undefined): Positions {
  const positions = new Positions();
  const visit = (node: Node, path: ObjectPath): void => {
    positions.add(path, { line: lineAt(text, node.offset), offset: node.offset });
    if (node.type === "array")
      for (const [index, item] of (node.children ?? []).entries()) visit(item, [...path, index]);
    if (node.type !== "object") return;
    for (const property of node.children ?? []) {
      const [name, value] = property.children!;
      const inner = [...path, name!.value as string];
      positions.add(inner, { line: lineAt(text, name!.offset), offset: name!.offset });
      visit(value!, inner);
    }
  };
  if (tree !== undefined) visit(tree, []);
  return positions;
}

/** The text with the top-level `retired` set: its value replaced, or a member after the last, laid out like it. */
export function jsonWithRetired(text: string, retired: boolean): string[] {
  const tree = parseTree(text);
  const properties = tree?.children ?? [];
  const existing = properties.find((property) => property.children?.[0]?.value === "retired")?.children?.[1];
  if (existing !== undefined) {
    const end = existing.offset + existing.length;
    return [`${text.slice(0, existing.offset)}${retired}${text.slice(end)}`];
  }
  const last = properties.at(-1);
  const [name, value] = last?.children ?? [];
  if (last === undefined || name === undefined || value === undefined) return [];
  const gap = /[ \t\r\n]*$/.exec(text.slice(0, last.offset))![0];
  const colon = text.slice(name.offset + name.length, value.offset);
  const end = value.offset + value.length;
  return [`${text.slice(0, end)},${gap}"retired"${colon}${retired}${text.slice(end)}`];
}

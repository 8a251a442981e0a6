/** TOML as it is written: where each member stands, and the text with one member changed. */
import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import type { ObjectPath } from "../table-reader.ts";
import { Positions } from "./decoding.ts";

/** The top-level table, or null when this parser refuses what the other one accepted. */
function topLevelOf(text: string): AST.TOMLTopLevelTable | null {
  try {
    return parseTOML(text, { tomlVersion: "next" }).body[0];
  } catch (error) {
    if (error instanceof ParseError) return null;
    throw error;
  }
}

export function tomlPositions(text: string): Positions {
  const positions = new Positions();
  const top = topLevelOf(text);
  if (top !== null) addBody(positions, [], top.body);
  return positions;
}

function addBody(
  positions: Positions,
  path: ObjectPath,
  body: readonly (AST.TOMLKeyValue | AST.TOMLTable)[],
): void {
  for (const node of body) {
    if (node.type === "TOMLTable") {
      addPrefixes(positions, [], node.resolvedKey, node);
      addBody(positions, node.resolvedKey, node.body);
      continue;
    }
    const names = keyNames(node.key);
    addPrefixes(positions, path, names, node);
    addValue(positions, [...path, ...names], node.value);
  }
}

function addValue(positions: Positions, path: ObjectPath, value: AST.TOMLContentNode): void {
  if (value.type === "TOMLInlineTable") addBody(positions, path, value.body);
  if (value.type !== "TOMLArray") return;
  for (const [index, element] of value.elements.entries()) {
    addPrefixes(positions, path, [index], element);
    addValue(positions, [...path, index], element);
  }
}

/** A dotted key also writes the tables on its way. */
function addPrefixes(positions: Positions, base: ObjectPath, parts: ObjectPath, node: AST.TOMLNode): void {
  const position = { line: node.loc.start.line, offset: node.range[0] };
  for (let length = 1; length <= parts.length; length += 1)
    positions.add([...base, ...parts.slice(0, length)], position);
}

function keyNames(key: AST.TOMLKey): string[] {
  return key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
}

/** The text with the top-level `retired` set: its value replaced, or a new line before the first table. */
export function tomlWithRetired(text: string, retired: boolean): string[] {
  const top = topLevelOf(text);
  if (top === null) return [];
  const members = top.body.filter((node) => node.type === "TOMLKeyValue");
  const existing = members.find((node) => keyNames(node.key).join("\0") === "retired");
  if (existing !== undefined) {
    const [start, end] = existing.value.range;
    return [`${text.slice(0, start)}${retired}${text.slice(end)}`];
  }
  const last = members.at(-1);
  if (last === undefined) return [];
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const indent = " ".repeat(last.loc.start.column);
  const lineEnd = text.indexOf("\n", last.range[1]);
  if (lineEnd === -1) return [`${text}${newline}${indent}retired = ${retired}`];
  return [`${text.slice(0, lineEnd + 1)}${indent}retired = ${retired}${newline}${text.slice(lineEnd + 1)}`];
}

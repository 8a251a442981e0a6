/** TOML to a plain object, by the letter of the standard (never Bun's own parser, which is laxer and stricter). */
import { parse, TomlError } from "smol-toml";
import { messageOf } from "../errors.ts";
import { type Decoding, lineAt, type Position, type Positions } from "./decoding.ts";

/** A key with a hundred parts and more: the parser's time grows with the square of their number. */
const ENDLESS_KEY = /^[\s[]*(?:[\w"'-]+\s*\.\s*){100}/m;

/** `text` without a byte order mark. The parser that knows positions is loaded when a line is asked for. */
export function decodeToml(text: string): Decoding {
  const endless = ENDLESS_KEY.exec(text);
  if (endless !== null) {
    const line = lineAt(text, endless.index + endless[0].length);
    return { kind: "undecodable", line, message: "has a key with more than 100 parts" };
  }
  let value: unknown;
  try {
    value = parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError))
      return { kind: "undecodable", line: null, message: `is not valid TOML: ${messageOf(error)}` };
    const reason = (error.message.split("\n", 1)[0] ?? "").replace(/^Invalid TOML document: /, "");
    return { kind: "undecodable", line: error.line, message: `is not valid TOML: ${reason}` };
  }
  let positions: Promise<Positions> | null = null;
  return {
    kind: "decoded",
    value,
    hint: null,
    async positionOf(path) {
      const [name] = path;
      const simple = path.length === 1 && typeof name === "string" ? plainMember(text, name) : null;
      if (simple !== null) return simple;
      positions ??= import("./toml-syntax.ts").then((syntax) => syntax.tomlPositions(text));
      return (await positions).nearest(path);
    },
  };
}

/**
 * Where a top-level member stands that is written plainly, on a line of its own before the first table; null when that
 * cannot be told without the syntax tree.
 */
function plainMember(text: string, name: string): Position | null {
  if (!/^[\w-]+$/.test(name) || text.includes('"""') || text.includes("'''")) return null;
  let offset = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trimStart().startsWith("[")) return null;
    if (line.startsWith(name) && /^\s*=/.test(line.slice(name.length))) return { line: index + 1, offset };
    offset += line.length + 1;
  }
  return null;
}

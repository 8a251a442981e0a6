/** TOML to a plain object, by the letter of the standard (never Bun's own parser, which is laxer and stricter). */
import { parse, TomlError } from "smol-toml";
import { messageOf } from "../errors.ts";
import type { Decoding, Positions } from "./decoding.ts";

/** `text` without a byte order mark. The parser that knows positions is loaded when a line is asked for. */
export function decodeToml(text: string): Decoding {
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
      positions ??= import("./toml-syntax.ts").then((syntax) => syntax.tomlPositions(text));
      return (await positions).nearest(path);
    },
  };
}

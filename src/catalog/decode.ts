/** Text of a declaration file to a plain object; the decoder of a format is loaded when a file of it is met. */
import { isUtf8 } from "node:buffer";
import type { DeclarationExtension } from "../leftovers.ts";
import { type Decoding, lineAt } from "./decoding.ts";

/** Empty text is a document without members in every format. Never throws for bad text. */
export async function decodeDeclaration(text: string, extension: DeclarationExtension): Promise<Decoding> {
  const clean = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (clean.trim() === "")
    return { kind: "decoded", value: {}, hint: null, positionOf: async () => ({ line: 1, offset: 0 }) };
  const decode = await decoderOf(extension);
  const decoding = withinLines(decode(clean), clean);
  if (decoding.kind === "decoded") return decoding;
  const marker = /^<{7}(?: |\r?$)/m.exec(clean);
  if (marker === null || !/^={7}\r?$|^>{7}(?: |\r?$)/m.test(clean.slice(marker.index))) return decoding;
  return {
    kind: "undecodable",
    line: lineAt(clean, marker.index),
    message: "has merge conflict markers: keep one side and remove the <<<<<<<, ======= and >>>>>>> lines",
  };
}

/** What is missing at the end is missing in the last line, not behind its line end. */
function withinLines(decoding: Decoding, text: string): Decoding {
  if (decoding.kind === "decoded" || decoding.line === null) return decoding;
  return { ...decoding, line: Math.min(decoding.line, lineAt(text, text.replace(/\r?\n$/, "").length)) };
}

async function decoderOf(extension: DeclarationExtension): Promise<(text: string) => Decoding> {
  switch (extension) {
    case "toml":
      return (await import("./toml.ts")).decodeToml;
    case "kdl":
      return (await import("./kdl.ts")).decodeKdl;
    case "json":
      return (await import("./json.ts")).decodeJson;
  }
}

/** The text of `bytes` with its byte order mark kept, or why it is not text. */
export function textOf(bytes: Uint8Array): { readonly text: string } | { readonly problem: string } {
  if (!isUtf8(bytes)) return { problem: "is not UTF-8 text" };
  return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
}

/** Where a declaration is to be found in its file, for problems that are about the whole of it. */
import { readFileSync } from "node:fs";
import { errnoOf } from "../errors.ts";
import { extensionOf } from "../leftovers.ts";
import { decodeDeclaration, textOf } from "./decode.ts";

/** The line, from 1, on which `file` (absolute) writes its identity; null when there is no telling. */
export async function readIdentityLine(file: string): Promise<number | null> {
  const extension = extensionOf(file.slice(file.lastIndexOf("/") + 1));
  if (extension === null) return null;
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    // It went since the catalog was read; its problems are shown without a line.
    if (errnoOf(error) !== null) return null;
    throw error;
  }
  const read = textOf(bytes);
  if ("problem" in read) return null;
  const decoding = await decodeDeclaration(read.text, extension);
  return decoding.kind === "decoded" ? (await decoding.positionOf(["identity"])).line : null;
}

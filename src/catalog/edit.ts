/** Changes the one member `retired` of a declaration file and not a byte besides. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../errors.ts";
import { type DeclarationExtension, extensionOf } from "../leftovers.ts";
import { effect } from "../system/effects.ts";
import { isTable, type Table } from "../table-reader.ts";
import { decodeDeclaration, textOf } from "./decode.ts";
import { replaceThroughLinks } from "./replace.ts";
import { unreadable } from "./walk.ts";

export type EditResult =
  | { readonly kind: "changed" }
  /** It says so already; nothing was written. */
  | { readonly kind: "unchanged" }
  /** Nothing was written. `line` counts from 1. */
  | { readonly kind: "refused"; readonly line: number | null; readonly message: string };

/**
 * Sets `retired` in `file` (absolute; TOML, KDL or JSON by its name). Without the member, `false` is what it means
 * already. Comments, order, layout, line endings, byte order mark, mode and links stay. The new text is
 * decoded before it is written: it must say the same but for this member.
 */
export async function setRetired(file: string, retired: boolean): Promise<EditResult> {
  const extension = extensionOf(file.slice(file.lastIndexOf("/") + 1));
  if (extension === null)
    return refused(null, "is not a declaration: its name ends in none of .toml, .kdl, .json");
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return refused(null, unreadable(error));
  }
  const read = textOf(bytes);
  if ("problem" in read) return refused(null, read.problem);
  const before = await decodeDeclaration(read.text, extension);
  if (before.kind === "undecodable") return refused(before.line, before.message);
  if (!isTable(before.value)) return refused(null, "is not a declaration: it is not a table of members");
  const now = before.value.retired;
  if (now === retired || (now === undefined && !retired)) return { kind: "unchanged" };

  const edited = await editedText(read.text, extension, before.value, retired);
  if (edited === null) return refused(null, `has a layout that cannot be edited safely: set retired by hand`);
  try {
    if (!Buffer.from(bytes).equals(readFileSync(file)))
      return refused(null, "was changed by somebody else just now: try again");
    replaceThroughLinks(file, edited);
  } catch (error) {
    return refused(null, `cannot be written: ${messageOf(error)}`);
  }
  effect("catalog-write");
  return { kind: "changed" };
}

function refused(line: number | null, message: string): EditResult {
  return { kind: "refused", line, message };
}

/** The first spelling of the edit that decodes to the old object with `retired` set, or null. */
async function editedText(
  text: string,
  extension: DeclarationExtension,
  before: Table,
  retired: boolean,
): Promise<string | null> {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  for (const candidate of await candidates(text.slice(mark.length), extension, retired)) {
    const after = await decodeDeclaration(candidate, extension);
    if (after.kind !== "decoded" || !isTable(after.value) || after.value.retired !== retired) continue;
    if (isDeepStrictEqual(withoutRetired(after.value), withoutRetired(before))) return mark + candidate;
  }
  return null;
}

async function candidates(
  text: string,
  extension: DeclarationExtension,
  retired: boolean,
): Promise<string[]> {
  switch (extension) {
    case "toml":
      return (await import("./toml-syntax.ts")).tomlWithRetired(text, retired);
    case "kdl":
      return (await import("./kdl-syntax.ts")).kdlWithRetired(text, retired);
    case "json":
      return (await import("./json.ts")).jsonWithRetired(text, retired);
  }
}

/** Entries rather than an object: their order counts too, and a member may be called `__proto__`. */
function withoutRetired(table: Table): [string, unknown][] {
  return Object.entries(table).filter(([name]) => name !== "retired");
}

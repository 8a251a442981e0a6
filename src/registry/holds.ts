/**
 * The holds that `down` leaves: `.convoy/holds.json`, bus id to `{at, by}`. A hold is a promise that an agent stays
 * down, so a file that cannot be understood is an error and never "nothing is held", and an entry that cannot be
 * understood still holds.
 */
import { dirname } from "node:path";
import { ConvoyError, messageOf } from "../errors.ts";
import { carryMembers, formatJson, isJsonObject, type JsonObject, parseJsonObject } from "../json-members.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { effect } from "../system/effects.ts";
import { withLockFile } from "../system/lock-file.ts";
import { ensureFolder } from "./changes.ts";
import { readText } from "./files.ts";

export interface Hold {
  /** ISO 8601; empty when the file does not say. */
  readonly at: string;
  /** Who held it, as text for a person. */
  readonly by: string;
}

/** The holds in the file at `path`; none when it is missing. Throws a `ConvoyError` when it is torn or unreadable. */
export function readHolds(path: string): Record<string, Hold> {
  return parseHolds(readRaw(path));
}

/**
 * Changes the holds under their lock. Nothing is written when nothing changed. Throws as `readHolds` does: a torn file
 * is never written over, for nobody knows what it held.
 */
export async function changeHolds(
  path: string,
  change: (holds: Record<string, Hold>) => void,
): Promise<void> {
  ensureFolder(dirname(path));
  await withLockFile(`${path}.lock`, () => {
    const raw = readRaw(path);
    const holds = parseHolds(raw);
    change(holds);
    const next = carryMembers(raw, parseHolds(raw), holds);
    if (formatJson(next) === formatJson(raw)) return;
    try {
      writeFileAtomic(path, formatJson(next));
    } catch (error) {
      throw new ConvoyError("failed", `cannot write ${path}: ${messageOf(error)}`);
    }
    effect("holds-write");
  });
}

function readRaw(path: string): JsonObject {
  const file = readText(path);
  if (file.state === "missing") return {};
  const parsed = file.state === "read" ? parseJsonObject(file.text) : { problem: file.message };
  if ("object" in parsed) return parsed.object;
  throw new ConvoyError(
    "failed",
    `${path} ${parsed.problem}, so nobody can tell which agents are held; nothing is launched`,
    `mend it, or remove it to lift every hold: rm '${path}'`,
  );
}

function parseHolds(raw: JsonObject): Record<string, Hold> {
  const holds = Object.entries(raw).map(([busId, value]) => {
    const hold = isJsonObject(value) ? value : {};
    const at = typeof hold.at === "string" ? hold.at : "";
    return [busId, { at, by: typeof hold.by === "string" ? hold.by : "unknown" }] as const;
  });
  return Object.fromEntries(holds);
}

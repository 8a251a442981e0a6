/** JSON objects that more than one program writes: take what is understood, keep what is not. */

export type JsonObject = { [member: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The text as one JSON object, or what is wrong with it: torn, empty, another kind of value. */
export function parseJsonObject(
  text: string,
): { readonly object: JsonObject } | { readonly problem: string } {
  if (text.trim() === "") return { problem: "is empty" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON (torn or not ours)" };
  }
  if (!isJsonObject(value)) return { problem: `holds ${kindOf(value)}, not an object` };
  return { object: value };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/** 2 spaces and no final newline: what pty writes. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/**
 * `raw` with the members in which `after` differs from `before` replaced, added or removed. What `before` did not
 * understand of `raw` (unknown members, known ones of a wrong type) stays byte for byte the same value, in its place.
 */
export function carryMembers(raw: JsonObject, before: object, after: object): JsonObject {
  const old = before as JsonObject;
  const fresh = after as JsonObject;
  const members = new Map(Object.entries(raw));
  for (const key of Object.keys(old)) if (!Object.hasOwn(fresh, key)) members.delete(key);
  for (const [key, value] of Object.entries(fresh)) {
    if (value === undefined) members.delete(key);
    else if (!Object.hasOwn(old, key) || !sameJson(old[key], value)) members.set(key, value);
  }
  return Object.fromEntries(members);
}

function sameJson(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

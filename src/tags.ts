/** Changes to a session's tags (formats §6, §7). */
import { ACCOUNTING_TAGS } from "./flapping-cap.ts";

export type Tags = Readonly<Record<string, string>>;

/** A copy without the named tags. */
export function withoutTags(tags: Tags, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).filter(([name]) => !names.includes(name)));
}

/** Applies a patch; `set` wins over `remove`. */
export function patchTags(tags: Tags, set: Tags, remove: readonly string[]): Record<string, string> {
  return { ...withoutTags(tags, remove), ...set };
}

/** As if it had never failed: overrides of window and limit stay, counts and status go. */
export function withEmptyAccounting(tags: Tags): Record<string, string> {
  return withoutTags(tags, ACCOUNTING_TAGS);
}

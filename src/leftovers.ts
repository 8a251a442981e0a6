/**
 * What sync tools, editors and version control leave behind in a catalog folder, told from its name alone.
 * None of it is ever a declaration (formats: docs/catalog.md).
 */

/** `conflict-copy` is reported by name; `leftover` and `other` are passed over in silence. */
export type NameKind = "declaration" | "conflict-copy" | "leftover" | "other";

export const DECLARATION_EXTENSIONS = ["toml", "kdl", "json"] as const;
export type DeclarationExtension = (typeof DECLARATION_EXTENSIONS)[number];

/** The losing side of a conflict, as sync tools spell it in the name before the extension. */
const CONFLICT_STEMS: readonly RegExp[] = [
  /\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$/, // Syncthing
  /\([^()]*\bconflict(?:ed|s)?\b[^()]*\)$/i, // Dropbox, Nextcloud, pCloud: "(box's conflicted copy 2026-11-30)"
  /\(SFConflict[^()]*\)$/, // Seafile
  /_conflict-\d{8}-\d{6}$/, // ownCloud
  /_Conflict(?:\(\d+\))?$/, // Synology Drive
  /\.Conflict(?:\.\d+)?$/, // Resilio Sync
];

/** Names that are a conflict copy only beside the file they copy: the stem without the suffix. */
const COPY_SUFFIXES: readonly RegExp[] = [
  / ?\(\d{1,3}\)$/, // Google Drive, browsers: "agent (1).toml"
  / \d{1,3}$/, // iCloud: "agent 2.toml"
  /-(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{6,12}$/, // OneDrive appends the computer's name
];

/** Left by merges of git and Mercurial with the extension kept: `agent_BASE_4711.toml`. */
const MERGE_STEM = /(?:[._](?:BACKUP|BASE|LOCAL|REMOTE)[._]\d+|~(?:base|local|other)[^~]*|~)$/;
/** A backup whose second extension says so, beside the original: `agent.bak.toml`. */
const BACKUP_STEM = /[._](?:bak|backup|orig|old|rej|swp|tmp|temp|part)$/i;

/** No tool's mark is spelt with these alone: spares the usual name a dozen patterns. */
const PLAIN_STEM = /^[a-z0-9-]+$/;

/** The declaration format that a file name announces, or null. */
export function extensionOf(name: string): DeclarationExtension | null {
  const dot = name.lastIndexOf(".");
  if (dot <= 0) return null;
  const extension = name.slice(dot + 1);
  return DECLARATION_EXTENSIONS.find((known) => known === extension) ?? null;
}

/**
 * Sorts one file name. `siblings` are all names in its folder: some spellings are copies only beside an original.
 */
export function classifyFileName(name: string, siblings: ReadonlySet<string>): NameKind {
  if (name.startsWith(".") || name.startsWith("~") || name.startsWith("#")) return "leftover";
  const extension = extensionOf(name);
  if (extension === null) return "other";
  const stem = name.slice(0, -extension.length - 1);
  if (PLAIN_STEM.test(stem)) return "declaration";
  if (isConflictFolder(stem)) return "conflict-copy";
  if (MERGE_STEM.test(stem)) return "leftover";
  const hasOriginal = (suffix: RegExp): boolean => {
    const original = stem.replace(suffix, "");
    return original !== stem && original !== "" && siblings.has(`${original}.${extension}`);
  };
  if (COPY_SUFFIXES.some(hasOriginal)) return "conflict-copy";
  return hasOriginal(BACKUP_STEM) ? "leftover" : "declaration";
}

/** Whether a folder's name is a sync tool's conflict copy of another folder: not looked into, but reported. */
export function isConflictFolder(name: string): boolean {
  return !PLAIN_STEM.test(name) && CONFLICT_STEMS.some((pattern) => pattern.test(name));
}

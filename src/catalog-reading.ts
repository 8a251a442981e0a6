/** What one reading of a catalog folder gives, good and bad together. */
import type { CatalogEntry, Problem } from "./declaration.ts";

/**
 * One file of the catalog that may be a declaration. One that is empty, or some other document, has no entry, claims
 * no identity and comes without a problem: only who knows its last good version can tell that it lost something.
 */
export interface CatalogFile {
  /** Relative to the catalog, `/` between its parts. */
  readonly path: string;
  /**
   * The identity as the file writes it, before the grammar check (`Worker` claims `worker` too); null when the
   * file does not parse or has none.
   */
  readonly claimedIdentity: string | null;
  /** Null when the file has an error of its own. */
  readonly entry: CatalogEntry | null;
  /** Whether the file itself names `host`. */
  readonly hostWritten: boolean;
  /** Whether the content had parsed as its format at all. */
  readonly parsed: boolean;
}

export interface CatalogReading {
  /** "missing" and "unreadable" tear nothing down. */
  readonly state: "read" | "missing" | "unreadable";
  /** Sorted by path. */
  readonly files: readonly CatalogFile[];
  readonly problems: readonly Problem[];
}

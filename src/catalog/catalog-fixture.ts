/** Throw-away catalogs for the tests of this room. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CatalogReading } from "../catalog-reading.ts";
import type { Clock } from "../system/clock.ts";
import { readCatalog } from "./read.ts";

/** A clock far ahead of the files: everything is old, and waiting is an error. */
const later: Clock = {
  now: () => new Date(Date.now() + 60_000),
  sleep: () => Promise.reject(new Error("nothing to wait for")),
};

export class CatalogFixture {
  readonly dir = mkdtempSync("/tmp/cv-");
  readonly catalogDir = join(this.dir, "catalog");

  constructor() {
    mkdirSync(this.catalogDir);
  }

  /** Writes a file below the catalog, with its folders; its absolute path. */
  put(path: string, text: string | Uint8Array): string {
    const file = join(this.catalogDir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  read(): Promise<CatalogReading> {
    return readCatalog({ catalogDir: this.catalogDir, clock: later });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export function toml(identity: string, more = ""): string {
  return `identity = "${identity}"\nrole = "worker"\nsupervisor = "boss"\n${more}`;
}

/** `path: identity`, the claimed one where the file has errors. */
export function identities(reading: CatalogReading): string[] {
  return reading.files.map(
    (file) => `${file.path}: ${file.entry?.declaration.identity ?? file.claimedIdentity}`,
  );
}

/** `severity path:line message`. */
export function messages(reading: CatalogReading): string[] {
  return reading.problems.map(
    (problem) => `${problem.severity} ${problem.path}:${problem.line} ${problem.message}`,
  );
}

/** Writes the file of a new agent. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DeclarationFields, declarationObject, formatDeclaration } from "../declaration-format.ts";
import { validateDeclaration } from "../declaration-validate.ts";
import { errnoOf, messageOf } from "../errors.ts";
import { shortHost } from "../identity.ts";
import { DECLARATION_EXTENSIONS, type DeclarationExtension } from "../leftovers.ts";
import { effect } from "../system/effects.ts";
import { replaceThroughLinks } from "./replace.ts";

export interface CreateDeclarationOptions {
  readonly catalogDir: string;
  readonly host: string;
  readonly identity: string;
  readonly format: DeclarationExtension;
  readonly fields: DeclarationFields;
  /** Replace a file that is there already. */
  readonly force?: boolean;
  /** Say what would be written, and write nothing. */
  readonly dryRun?: boolean;
}

export type CreateDeclarationResult =
  | {
      readonly kind: "created" | "would-create";
      /** Relative to the catalog. */
      readonly path: string;
      readonly text: string;
      readonly warnings: readonly string[];
    }
  /** Another declaration of this agent is there; `path` names it. */
  | { readonly kind: "exists"; readonly path: string; readonly message: string }
  /** The fields make no valid declaration. */
  | { readonly kind: "invalid"; readonly messages: readonly string[] }
  | { readonly kind: "failed"; readonly message: string };

/** Writes `catalog/<host>/<identity>/agent.<format>`. Nothing is written unless what is written would be read back. */
export function createDeclaration(options: CreateDeclarationOptions): CreateDeclarationResult {
  const { catalogDir, identity, format, fields, force = false, dryRun = false } = options;
  const host = shortHost(options.host);
  const checked = validateDeclaration(declarationObject(host, identity, fields));
  if (checked.kind !== "declaration")
    return { kind: "invalid", messages: checked.kind === "other" ? [] : errorsOf(checked.issues, "error") };

  const folder = `${host}/${identity}`;
  const path = `${folder}/agent.${format}`;
  const text = formatDeclaration(format, host, identity, fields);
  try {
    const existing = existingIn(join(catalogDir, folder));
    const other = existing.find((extension) => extension !== format);
    if (other !== undefined)
      return exists(`${folder}/agent.${other}`, `--force replaces it only with --format ${other}`);
    if (existing.length > 0 && !force) return exists(path, "--force replaces it");
    if (!dryRun) write(catalogDir, path, text, existing.length > 0);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return exists(path, "--force replaces it");
    return { kind: "failed", message: `${path} cannot be written: ${messageOf(error)}` };
  }
  return {
    kind: dryRun ? "would-create" : "created",
    path,
    text,
    warnings: errorsOf(checked.issues, "warning"),
  };
}

function errorsOf(issues: readonly { severity: string; message: string }[], severity: string): string[] {
  return issues.filter((issue) => issue.severity === severity).map((issue) => issue.message);
}

function exists(path: string, hint: string): CreateDeclarationResult {
  return { kind: "exists", path, message: `${path} exists already; ${hint}` };
}

/** The formats in which the folder has an `agent` file; a link that leads nowhere counts too. */
function existingIn(folder: string): DeclarationExtension[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  return DECLARATION_EXTENSIONS.filter((extension) => names.includes(`agent.${extension}`));
}

function write(catalogDir: string, path: string, text: string, replace: boolean): void {
  const file = join(catalogDir, path);
  if (mkdirSync(join(file, ".."), { recursive: true }) !== undefined) effect("folder-create");
  if (replace) replaceThroughLinks(file, text);
  else writeNew(file, text);
  effect("catalog-write");
}

/** Exclusive: of two that create the same file, one fails with EEXIST. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    // What a full disk has left of our own file would stand in the way of the next try.
    if (errnoOf(error) !== "EEXIST" && existsSync(file)) {
      rmSync(file);
      effect("files-remove");
    }
    throw error;
  }
}

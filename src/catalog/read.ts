/** Reads a catalog folder: every declaration and every problem in it, good and bad side by side. */
import type { CatalogFile, CatalogReading } from "../catalog-reading.ts";
import type { Declaration, Problem } from "../declaration.ts";
import { validateDeclaration } from "../declaration-validate.ts";
import { type Clock, systemClock } from "../system/clock.ts";
import type { Issue } from "../table-reader.ts";
import { decodeDeclaration } from "./decode.ts";
import type { Decoded } from "./decoding.ts";
import { applyFolderClaims } from "./folder-claims.ts";
import { readStill } from "./still.ts";
import { type FoundFile, walkCatalog } from "./walk.ts";

export interface ReadCatalogOptions {
  readonly catalogDir: string;
  readonly clock?: Clock;
  /** How long a changed file must have been still before it counts. */
  readonly settleMs?: number;
  /** How long to wait for stillness in all. */
  readonly maxWaitMs?: number;
}

interface FileReading {
  readonly file: CatalogFile;
  readonly problems: readonly Problem[];
}

/**
 * Never throws for what is in the folder. Waits for files that changed less than `settleMs` ago, up to `maxWaitMs`;
 * one that changes for longer does not count yet and is an error.
 */
export async function readCatalog(options: ReadCatalogOptions): Promise<CatalogReading> {
  const { catalogDir, clock = systemClock, settleMs = 250, maxWaitMs = 2000 } = options;
  const walk = walkCatalog(catalogDir);
  const texts = await readStill(
    walk.files.map((found) => found.file),
    { clock, settleMs, maxWaitMs },
  );
  const files: CatalogFile[] = [];
  const problems: Problem[] = [...walk.problems];
  for (const [index, found] of walk.files.entries()) {
    const text = texts[index]!;
    if (text.kind === "gone") continue;
    let reading: FileReading;
    if (text.kind === "text") reading = await readDeclaration(found, text.text);
    else if (text.kind === "unreadable") reading = failed(found, null, text.message);
    else reading = failed(found, null, `is still being written after ${maxWaitMs / 1000} s: not read yet`);
    files.push(reading.file);
    problems.push(...reading.problems);
  }
  problems.sort((a, b) => (a.path === b.path ? (a.line ?? 0) - (b.line ?? 0) : a.path < b.path ? -1 : 1));
  return { state: walk.state, files, problems };
}

/** The text of one declaration file, decoded and checked. */
async function readDeclaration(found: FoundFile, text: string): Promise<FileReading> {
  const { path, extension } = found;
  const decoding = await decodeDeclaration(text, extension);
  if (decoding.kind === "undecodable") return failed(found, decoding.line, decoding.message);
  const checked = validateDeclaration(decoding.value, { ptys: extension === "json" });
  if (checked.kind === "other") {
    const problems: Problem[] =
      decoding.hint === null ? [] : [{ severity: "warning", path, line: 1, message: decoding.hint }];
    const file = { path, claimedIdentity: null, entry: null, hostWritten: false, parsed: true };
    return { file, problems };
  }
  const { claimedIdentity, hostWritten } = checked;
  const file = { path, claimedIdentity, hostWritten, parsed: true };
  if (checked.kind === "invalid") {
    const problems = await problemsOf(path, checked.issues, decoding);
    return { file: { ...file, entry: null }, problems };
  }
  const placed = applyFolderClaims(await inDocumentOrder(checked.declaration, decoding), path);
  const problems = await problemsOf(path, [...checked.issues, ...placed.issues], decoding);
  return {
    file: { ...file, entry: { declaration: placed.declaration, path } },
    problems,
  };
}

function failed({ path }: FoundFile, line: number | null, message: string): FileReading {
  return {
    file: { path, claimedIdentity: null, entry: null, hostWritten: false, parsed: false },
    problems: [{ severity: "error", path, line, message }],
  };
}

async function problemsOf(path: string, issues: readonly Issue[], decoded: Decoded): Promise<Problem[]> {
  return await Promise.all(
    issues.map(async ({ severity, path: member, message }) => {
      const { line } = await decoded.positionOf(member);
      return { severity, path, line, message };
    }),
  );
}

/** The first task may be the main one; JavaScript moves members named by a number to the front. */
async function inDocumentOrder(declaration: Declaration, decoded: Decoded): Promise<Declaration> {
  const { tasks } = declaration;
  if (tasks.length < 2 || !tasks.some((task) => /^\d+$/.test(task.name))) return declaration;
  const member = Object.hasOwn(decoded.value as object, "pty") ? "pty" : "ptys";
  const placed = await Promise.all(
    tasks.map(async (task) => ({ task, offset: (await decoded.positionOf([member, task.name])).offset })),
  );
  placed.sort((a, b) => a.offset - b.offset);
  return { ...declaration, tasks: placed.map(({ task }) => task) };
}

/** Puts an agent's rendered files into its workspace: what differs, whole or not at all, and nothing outside of it. */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, messageOf } from "../errors.ts";
import { isToWrite, planSources, type RenderReport, type RenderRequest, type Standing } from "../render.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { effect } from "../system/effects.ts";
import { excludeFromGit, makeFolders } from "./git-exclude.ts";
import { findPlace, type Place } from "./place.ts";
import { type FoundSource, findSources } from "./sources.ts";

interface Placed extends FoundSource {
  readonly path: string;
}

/** Best effort: what can be rendered is. Throws nothing that the disk may say. */
export function renderWorkspace({ render, base, home, workspace }: RenderRequest): RenderReport {
  const planned = planSources(render, base, home);
  const found = findSources(planned.sources);
  const problems = [...planned.problems, ...found.problems];
  try {
    const placed = findPlaces(realpathSync(workspace), found.files, problems);
    // First the lines: no status in between shows the files.
    problems.push(...excludeFromGit(placed.map(({ path }) => path)));
    return { written: placed.filter((file) => renderFile(file, problems)).map(({ dest }) => dest), problems };
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return { written: [], problems: [...problems, `${workspace}: ${messageOf(error)}`] };
  }
}

function findPlaces(workspace: string, files: readonly FoundSource[], problems: string[]): Placed[] {
  return files.flatMap((file) => {
    const place = attempt(file, problems, (): Place => findPlace(workspace, file.dest));
    if (place === null) return [];
    if ("path" in place) return [{ ...file, path: place.path }];
    problems.push(`${file.dest}: ${place.problem}`);
    return [];
  });
}

/** Whether it was written. */
function renderFile(file: Placed, problems: string[]): boolean {
  const done = attempt(file, problems, () => {
    const wanted = { content: readFileSync(file.source), mode: file.mode };
    if (!isToWrite(wanted, readStanding(file.path))) return false;
    makeFolders(dirname(file.path));
    writeFileAtomic(file.path, wanted.content, { mode: file.mode });
    effect("render-write");
    return true;
  });
  return done === true;
}

function readStanding(path: string): Standing {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { kind: "nothing" };
  return { kind: "file", content: readFileSync(path), mode: stats.mode & 0o7777 };
}

/** Null, with the problem noted, when the disk says no. */
function attempt<T>({ dest }: FoundSource, problems: string[], act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    problems.push(`${dest}: ${messageOf(error)}`);
    return null;
  }
}

/** `convoy pretrust`: the trust batch of `up`, for folders that somebody names. */
import { resolve } from "node:path";
import type { HarnessName } from "../declaration.ts";
import { baseEnvironment } from "../environment.ts";
import { HARNESSES } from "../harness.ts";
import { trustAccess } from "../harness-files/trust-access.ts";
import { readLogin } from "../system/login.ts";
import { oneLine } from "../table.ts";
import { type PretrustReport, pretrust, type TrustAccess, type TrustedFile } from "../trust.ts";
import type { CommandContext } from "./command.ts";
import type { Output } from "./output.ts";

export interface PretrustArguments {
  /** As typed. */
  readonly dir: readonly string[];
  readonly harness: HarnessName | null;
  readonly "config-dir": string | null;
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code: 1 when a folder is not there or trust could not be written. */
export async function runPretrust(
  args: PretrustArguments,
  context: Context,
  access: TrustAccess = trustAccess,
): Promise<number> {
  const harness = args.harness ?? "claude";
  const env = environmentFor(harness, args["config-dir"], context);
  const folders = args.dir.map((dir) => resolve(context.cwd, dir));
  const absent = new Set(folders.filter((folder) => isAbsent(folder, access)));
  const requests = folders
    .filter((folder) => !absent.has(folder))
    .map((workspace) => ({ harness, workspace, env }));
  const report = await pretrust(requests, access);
  const missing = [...absent];
  const { output, json } = context;
  if (json) {
    const { files, unresolved } = report;
    output.document({ harness, files, missing, unresolved });
  } else {
    for (const folder of missing) output.error(`${folder} does not exist: it was not trusted`);
    printReport(report, output);
    if (HARNESSES[harness].trust === null) output.note(`${harness} asks for no trust: nothing to write.`);
  }
  const failed = report.files.some(({ problem }) => problem !== null) || report.unresolved.length > 0;
  return failed || missing.length > 0 ? 1 : 0;
}

/** What an agent that is started from here would get, with `--config-dir` as its harness's own variable. */
function environmentFor(harness: HarnessName, configDir: string | null, { env, home, cwd }: Context) {
  const base = baseEnvironment(env, readLogin(home, env));
  const variable = HARNESSES[harness].trust?.variable;
  return configDir === null || variable === undefined
    ? base
    : { ...base, [variable]: resolve(cwd, configDir) };
}

/** Somebody who types a folder means one that is there. */
function isAbsent(folder: string, access: TrustAccess): boolean {
  const real = access.readRealPath(folder);
  return !("problem" in real) && !real.exists;
}

function printReport({ files, unresolved }: PretrustReport, output: Output): void {
  for (const { problem } of unresolved) output.error(problem);
  for (const file of files) printFile(file, output);
}

function printFile({ path, written, added, refused, problem, note }: TrustedFile, output: Output): void {
  if (problem !== null) output.error(`trust not written: ${problem}`);
  if (note !== null) output.note(note);
  for (const folder of refused)
    output.warn(`${path} says otherwise about ${folder}: left as it is, change trust_level there`);
  if (written) {
    output.out(`${oneLine(path)}: ${added.length} added`);
    for (const folder of added) output.out(`  ${oneLine(folder)}`);
  } else if (problem === null && note === null && refused.length === 0)
    output.out(`${oneLine(path)}: nothing to add`);
}

/** `convoy add`: writes one declaration, when it would be in force as soon as it is read. */
import { join, resolve } from "node:path";
import { type CreateDeclarationOptions, createDeclaration } from "../catalog/create.ts";
import type { CatalogFile } from "../catalog-reading.ts";
import type { Declaration } from "../declaration.ts";
import { type DeclarationFields, declarationObject } from "../declaration-format.ts";
import { validateDeclaration } from "../declaration-validate.ts";
import { ConvoyError } from "../errors.ts";
import { busIdOf, shortHost } from "../identity.ts";
import { planInForce } from "../in-force.ts";
import { type LaunchContext, sessionNames, workspaceOf } from "../launch-spec.ts";
import type { DeclarationExtension } from "../leftovers.ts";
import { inspectNetwork } from "../registry/network.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { sessionNameProblems } from "../session-names.ts";
import { isUnder } from "../supervisor/observe.ts";
import { isDirectory } from "../system/programs.ts";
import type { CommandContext } from "./command.ts";
import { type Declared, readDeclared } from "./declared.ts";
import { networkFlag } from "./network.ts";

export interface AddArguments {
  readonly role: string;
  readonly identity: string;
  readonly host: string | null;
  readonly dir: string | null;
  readonly harness: string | null;
  readonly bin: string | null;
  readonly model: string | null;
  readonly command: string | null;
  readonly supervisor: string | null;
  readonly strategy: string | null;
  readonly transport: string | null;
  readonly env: readonly (readonly [string, string])[];
  readonly format: DeclarationExtension;
  readonly dryRun: boolean;
  readonly force: boolean;
}

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. Throws "usage" for what can be no declaration, "failed" for what is in its way. */
export async function runAdd(args: AddArguments, context: Context): Promise<number> {
  const { identity, format, force } = args;
  const declared = await readHere(context);
  const { catalog: catalogDir } = declared.paths;
  const host = shortHost(args.host ?? declared.host);
  const fields = fieldsOf(args, context.cwd);
  const options = { catalogDir, host, identity, format, fields, force };
  const draft = checkedDraft(options, declared, context);
  const { path, text } = create({ ...options, dryRun: args.dryRun });
  const file = join(catalogDir, path);
  const { output, json } = context;
  if (json) {
    const written = !args.dryRun;
    const { root } = declared.paths;
    const busId = busIdOf(host, identity);
    const { warnings } = draft;
    output.document({ network: root, host, identity, busId, path, file, text, written, warnings });
    return 0;
  }
  for (const warning of draft.warnings) output.warn(warning);
  if (args.dryRun) {
    output.note(`Would write ${file}:`);
    output.out(text.trimEnd());
    return 0;
  }
  output.out(file);
  for (const line of nextLines(host, declared, networkFlag(context.network()))) output.note(line);
  return 0;
}

/** The catalog as it is this moment: what somebody is still writing can only be a reason to refuse less. */
async function readHere(context: Context): Promise<Declared> {
  const declared = await readDeclared(context, { settleMs: 0 });
  const { paths } = declared;
  if (inspectNetwork(paths).catalog) return declared;
  const next = `convoy init${networkFlag(context.network()).replace(" --network", "")}`;
  throw new ConvoyError("not-found", `no catalog at ${paths.catalog}`, next);
}

function fieldsOf(args: AddArguments, cwd: string): DeclarationFields {
  const { role, supervisor, dir, harness, bin, model, transport, strategy, command } = args;
  const env = new Map<string, string>();
  for (const [name, value] of args.env) {
    if ((env.get(name) ?? value) !== value)
      throw new ConvoyError("usage", `add: --env ${name} is given twice`, "convoy add --help");
    env.set(name, value);
  }
  return {
    role,
    ...given({ supervisor }),
    ...given({ workspace: dir === null ? null : workspaceFrom(dir, cwd) }),
    ...given({ harness, bin, model, transport, strategy }),
    ...(env.size === 0 ? {} : { env: Object.fromEntries(env) }),
    ...given({ command }),
  };
}

/** The members that are not null. */
function given(members: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

/**
 * What `--dir` means to one who types it: relative to the current folder. A declaration reads a relative path as one
 * below `worktrees/`, so it is written absolute; `~` and `$HOME` stay, for the machine that will read them.
 */
export function workspaceFrom(dir: string, cwd: string): string {
  return /^(?:~|\$HOME)(?:\/|$)/.test(dir) ? dir : resolve(cwd, dir);
}

interface Draft {
  readonly path: string;
  readonly declaration: Declaration;
  readonly warnings: readonly string[];
}

/** All that can be wrong with the declaration, before anything is written. */
function checkedDraft(options: CreateDeclarationOptions, declared: Declared, context: Context): Draft {
  const { path, warnings } = create({ ...options, dryRun: true });
  const { host, identity, fields } = options;
  const valid = validateDeclaration(declarationObject(host, identity, fields));
  if (valid.kind !== "declaration") throw new Error(`${path}: not valid any more`);
  const { declaration } = valid;
  const launch = { network: declared.paths.root, host, home: context.home };
  const impossible = sessionNameProblems(launch.network, sessionNames(declaration, launch));
  if (impossible.length > 0) throw new ConvoyError("usage", `add: ${impossible.join("; ")}`);
  refuseClash({ path, declaration }, declared, context);
  return { path, declaration, warnings: [...warnings, ...doubts(declaration, launch, declared, fields)] };
}

/** `createDeclaration`, with what it refuses thrown. */
function create(options: CreateDeclarationOptions) {
  const result = createDeclaration(options);
  switch (result.kind) {
    case "created":
    case "would-create":
      return result;
    case "exists":
      throw new ConvoyError("failed", result.message);
    case "invalid":
      throw new ConvoyError("usage", `add: ${result.messages.join("; ")}`, "convoy add --help");
    case "failed":
      throw new ConvoyError("failed", result.message);
  }
}

/** Refuses what the next pass would freeze: the identity, or a session id, is another file's already. */
function refuseClash(
  { path, declaration }: Pick<Draft, "path" | "declaration">,
  { catalog, ledgers, host, paths }: Declared,
  { home }: Context,
): void {
  const others = catalog.files.filter((file) => file.path !== path);
  const { identity } = declaration;
  const claiming = others.filter(({ claimedIdentity }) => claimedIdentity?.toLowerCase() === identity);
  if (claiming.length > 0) {
    const places = claiming.map((file) => file.path).join(" and ");
    const message = `identity "${identity}" is declared already, in ${places}: nothing was written`;
    throw new ConvoyError("failed", message, "choose another --identity, or edit that file");
  }
  const entry = { declaration, path };
  const drafted: CatalogFile = { path, claimedIdentity: identity, entry, hostWritten: true, parsed: true };
  const after = { ...catalog, files: [...others, drafted] };
  const { agents } = planInForce({ catalog: after, ledgers, thisHost: host, network: paths.root, home });
  const conflict = agents.find((agent) => agent.entry.path === path)?.conflict ?? null;
  if (conflict !== null) throw new ConvoyError("failed", `nothing was written: ${conflict}`);
}

/** What is allowed and may not be meant. */
function doubts(
  declaration: Declaration,
  launch: LaunchContext,
  { host, paths }: Declared,
  { command, bin, model }: DeclarationFields,
): string[] {
  const found: string[] = [];
  const workspace = workspaceOf(declaration, launch);
  if (launch.host === host && !isUnder(workspace, paths.worktrees) && !isDirectory(workspace))
    found.push(`there is no folder ${workspace}: the agent waits until it is there`);
  if (command !== undefined && (bin !== undefined || model !== undefined))
    found.push("--command is the whole command line: --bin and --model change nothing beside it");
  return found;
}

function nextLines(host: string, declared: Declared, flag: string): string[] {
  if (host !== shortHost(declared.host))
    return [
      `A supervisor on ${host} starts it once the file has reached that machine.`,
      `  convoy plan${flag}`,
    ];
  const supervisor = readSupervisor(declared.paths);
  if (supervisor !== null)
    return [`The supervisor (pid ${supervisor.pid}) starts it now; to look:`, `  convoy ls${flag}`];
  return ["Next, see what would happen, and start it:", `  convoy plan${flag}`, `  convoy up${flag}`];
}

/**
 * What a declaration compiles to on this machine (formats §3-§5): its sessions, their names, command lines, folders,
 * tags and environment. Recovery compiles again by the same function as the first launch.
 */
import { isAbsolute, join, normalize } from "node:path";
import type { Declaration, Task } from "./declaration.ts";
import { ACCOUNTING_TAGS } from "./flapping-cap.ts";
import { formatHarnessLine, HARNESSES } from "./harness.ts";
import { busIdOf } from "./identity.ts";
import type { SessionSpec } from "./ledger.ts";

export interface LaunchContext {
  /** Absolute root of the network. */
  readonly network: string;
  /** This machine's name. */
  readonly host: string;
  /** The home folder that `~` and `$HOME` stand for. */
  readonly home: string;
  /** Host that an identity is declared for; without it, or where it knows none, a supervisor is on its report's host. */
  readonly hostOf?: (identity: string) => string | null;
}

/** Task name and tag `convoy.task` of the notification sidecar. */
export const SIDECAR_TASK = "ding";
/** Task name of a derived main task. */
export const MAIN_TASK = "agent";

/** Tags that a launch sets or leaves out; what was there under these names does not outlive a relaunch. */
const LAUNCH_TAGS: ReadonlySet<string> = new Set([
  "strategy",
  "st.network",
  "convoy.agent",
  "convoy.task",
  "convoy.spawner",
  "ptyfile",
  "ptyfile.session",
]);
const NEVER_DECLARED: ReadonlySet<string> = new Set([...LAUNCH_TAGS, ...ACCOUNTING_TAGS]);

/** What tells the tasks of one agent apart, before names, tags and wiring are put on it. */
interface TaskPlan {
  readonly task: string;
  readonly main: boolean;
  readonly id: string | null;
  readonly command: string;
  readonly args: readonly string[];
  readonly displayCommand: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly role: string | null;
  readonly binary: string | null;
}

/**
 * Every session of the agent, the main one first. The sidecar is among them wherever the agent would have one:
 * whether `st` is there to run it is the caller's look.
 */
export function compileSessions(declaration: Declaration, context: LaunchContext): SessionSpec[] {
  const plans = declaration.tasks.length > 0 ? explicit(declaration, context) : derived(declaration, context);
  return plans
    .sort((a, b) => Number(b.main) - Number(a.main))
    .map((plan) => compileTask(plan, declaration, context));
}

/** Session ids that the declaration compiles to, the main one first. */
export function sessionNames(declaration: Declaration, context: LaunchContext): string[] {
  return compileSessions(declaration, context).map((spec) => spec.name);
}

/** Absolute, normalised folder in which the agent runs; links are not resolved. */
export function workspaceOf(declaration: Declaration, context: LaunchContext): string {
  const worktrees = join(context.network, "worktrees");
  return resolvePath(declaration.workspace ?? declaration.identity, worktrees, context.home);
}

/**
 * Tags of a relaunch: what the session carries is kept, but for what a launch decides; declared tags win over kept
 * ones, the launch's own over both (`launched` has both, from `SessionSpec.tags`).
 */
export function mergeTags(
  kept: Readonly<Record<string, string>>,
  launched: Readonly<Record<string, string>>,
): Record<string, string> {
  return { ...without(kept, LAUNCH_TAGS), ...launched };
}

function busIdHere(declaration: Declaration, { host }: LaunchContext): string {
  return busIdOf(declaration.host ?? host, declaration.identity);
}

/** `<prefix>.<identity>`; the prefix is the host when none is declared. */
function baseName(declaration: Declaration, context: LaunchContext): string {
  const { prefix, identity } = declaration;
  return prefix === null ? busIdHere(declaration, context) : `${prefix.toLowerCase()}.${identity}`;
}

function sessionName(plan: Pick<TaskPlan, "id" | "main" | "task">, base: string): string {
  return plan.id ?? (plan.main ? base : `${base}.${plan.task}`);
}

function derived(declaration: Declaration, context: LaunchContext): TaskPlan[] {
  const { harness, bin, model, transport, env } = declaration;
  const { binary, busIntegration } = HARNESSES[harness];
  const line = formatHarnessLine({ harness, bin, model, prompt: formatPrompt(declaration, context) });
  const shared = { id: null, cwd: workspaceOf(declaration, context), env, tags: {} };
  const main: TaskPlan = {
    ...shared,
    task: MAIN_TASK,
    main: true,
    command: "sh",
    args: ["-c", `exec ${line}`],
    displayCommand: line,
    role: "agent",
    binary: bin ?? binary,
  };
  if (transport !== "ding" && busIntegration) return [main];
  const args = sidecarArguments(declaration, context);
  const sidecar: TaskPlan = {
    ...shared,
    task: SIDECAR_TASK,
    main: false,
    command: "st",
    args,
    displayCommand: ["st", ...args].join(" "),
    role: "ding",
    binary: "st",
  };
  return [main, sidecar];
}

function formatPrompt(declaration: Declaration, context: LaunchContext): string {
  const persona = declaration.persona?.replaceAll(/[\r\n]+/g, " ");
  const start = `You were started by convoy as ${busIdHere(declaration, context)}. Read your inbox and carry on.`;
  return persona === undefined ? start : `${start} Your role is described in ${persona}.`;
}

function sidecarArguments(declaration: Declaration, context: LaunchContext): string[] {
  const root = join(context.network, "smalltalk");
  const session = baseName(declaration, context);
  return ["ding", session, "--identity", busIdHere(declaration, context), "--root", root];
}

function explicit(declaration: Declaration, context: LaunchContext): TaskPlan[] {
  const { tasks, env } = declaration;
  const main = mainTask(tasks);
  const workspace = workspaceOf(declaration, context);
  return tasks.map((task) => ({
    task: task.name,
    main: task === main,
    id: task.id,
    command: "sh",
    args: ["-c", task.command],
    displayCommand: task.command,
    cwd: task.cwd === null ? workspace : resolvePath(task.cwd, workspace, context.home),
    env: { ...env, ...task.env },
    tags: task.keep === null ? task.tags : { ...task.tags, keep: String(task.keep) },
    role: task === main ? "agent" : null,
    binary: null,
  }));
}

/** The one tagged `role=agent`, else the one named `agent`, else the first in the document. */
function mainTask(tasks: readonly Task[]): Task | undefined {
  return (
    tasks.find((task) => task.tags.role === "agent") ??
    tasks.find((task) => task.name === MAIN_TASK) ??
    tasks[0]
  );
}

function compileTask(plan: TaskPlan, declaration: Declaration, context: LaunchContext): SessionSpec {
  const { task, main, command, args, displayCommand, cwd, binary } = plan;
  const name = sessionName(plan, baseName(declaration, context));
  const agent = busIdHere(declaration, context);
  return {
    name,
    agent,
    identity: declaration.identity,
    task,
    main,
    command,
    args,
    displayCommand,
    cwd,
    env: { ...plan.env, ...wiring(name, agent, context.network) },
    tags: { ...without(plan.tags, NEVER_DECLARED), ...launchTags(plan, declaration, context) },
    binary,
  };
}

/** What puts a session on this network's bus and registry; nothing declared or inherited goes over it. */
function wiring(name: string, agent: string, network: string): Record<string, string> {
  const registry = join(network, "pty");
  return {
    ST_ROOT: join(network, "smalltalk"),
    PTY_ROOT: registry,
    PTY_SESSION_DIR: registry,
    PTY_ROOT_LEGACY_SILENT: "1",
    CONVOY_NETWORK: network,
    ST_AGENT: agent,
    PTY_SESSION: name,
  };
}

function launchTags(
  { task, main, role }: TaskPlan,
  declaration: Declaration,
  context: LaunchContext,
): Record<string, string> {
  const agent = busIdHere(declaration, context);
  const { supervisor, strategy } = declaration;
  return {
    ...(strategy === "batch" ? {} : { strategy: "permanent" }),
    ...(role === null ? {} : { role }),
    "st.network": context.network,
    "convoy.agent": agent,
    ...(main ? {} : { "convoy.task": task }),
    ...(supervisor === null ? {} : { "convoy.spawner": supervisorBusId(supervisor, declaration, context) }),
  };
}

function supervisorBusId(supervisor: string, declaration: Declaration, context: LaunchContext): string {
  return busIdOf(context.hostOf?.(supervisor) ?? declaration.host ?? context.host, supervisor);
}

/** `~` and `$HOME` at the start stand for the home folder; a relative path is under `base`. */
export function resolvePath(path: string, base: string, home: string): string {
  const expanded = path.replace(/^(?:~|\$HOME)(?=\/|$)/, () => home);
  const absolute = normalize(isAbsolute(expanded) ? expanded : join(base, expanded));
  return absolute.length > 1 && absolute.endsWith("/") ? absolute.slice(0, -1) : absolute;
}

function without(tags: Readonly<Record<string, string>>, names: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).filter(([name]) => !names.has(name)));
}

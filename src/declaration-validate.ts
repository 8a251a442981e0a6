/** The one validator of declarations, whatever format they were written in: the published agent-spec format. */
import {
  type Declaration,
  HARNESS_NAMES,
  type HarnessName,
  type RenderDir,
  type RenderFile,
  ROLES,
  type Role,
  STRATEGIES,
  type Strategy,
  type Task,
  TRANSPORTS,
  type Transport,
} from "./declaration.ts";
import { identityProblem, isSessionName, RESERVED_IDENTITIES, shortHost } from "./identity.ts";
import { dirDestProblem, fileDestProblem, modeProblem, normalDest } from "./render.ts";
import { type Issue, isTable, memberName, nonEmpty, type StringCheck, TableReader } from "./table-reader.ts";

export type Validation =
  /** Neither `identity` nor `role`: some other document, nothing to say about it. */
  | { readonly kind: "other" }
  | {
      readonly kind: "invalid";
      readonly claimedIdentity: string | null;
      readonly hostWritten: boolean;
      readonly issues: readonly Issue[];
    }
  /** `issues` are warnings only. */
  | {
      readonly kind: "declaration";
      readonly claimedIdentity: string;
      readonly hostWritten: boolean;
      readonly declaration: Declaration;
      readonly issues: readonly Issue[];
    };

export interface ValidationOptions {
  /** JSON also spells the table of tasks `ptys`. */
  readonly ptys?: boolean;
}

const BIN = /^[A-Za-z0-9._/-]+$/;
const MODEL = /^[A-Za-z0-9._:/-]+$/;
const HOST = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** Whether `name`, already shortened, can be a host's name. */
export function isHostName(name: string): boolean {
  return HOST.test(name);
}

/**
 * Checks the object of one document. All issues are found at once; each names the member it is about.
 * `host` comes out short and lower case, `prefix` lower case, absent members as their defaults.
 */
export function validateDeclaration(raw: unknown, options: ValidationOptions = {}): Validation {
  if (!isTable(raw) || !(Object.hasOwn(raw, "identity") || Object.hasOwn(raw, "role")))
    return { kind: "other" };
  const issues: Issue[] = [];
  const top = new TableReader(raw, [], issues);
  const identity = readIdentity(top);
  const role = readRole(top);
  const rest = readRest(top);
  const tasks = readTasks(top, options.ptys ?? false);
  top.warnOfUnknown();
  if (role !== null && role !== "chief-of-staff" && !Object.hasOwn(raw, "supervisor"))
    top.warning(["role"], `no supervisor is named: this ${role} reports to nobody`);

  const hostWritten = Object.hasOwn(raw, "host");
  if (identity === null || role === null || issues.some((issue) => issue.severity === "error")) {
    const claimedIdentity = typeof raw.identity === "string" ? raw.identity : null;
    return { kind: "invalid", claimedIdentity, hostWritten, issues };
  }
  const declaration: Declaration = { identity, role, ...rest, tasks };
  return { kind: "declaration", claimedIdentity: identity, hostWritten, declaration, issues };
}

function readIdentity(top: TableReader): string | null {
  if (top.has("identity")) return top.string("identity", identityProblem);
  return top.error(["role"], "identity is missing: a declaration has both identity and role");
}

function readRole(top: TableReader): Role | null {
  if (top.has("role")) return top.oneOf("role", ROLES);
  return top.error(["identity"], "role is missing: a declaration has both identity and role");
}

function readRest(top: TableReader): Omit<Declaration, "identity" | "role" | "tasks"> {
  const host = top.string("host", hostProblem);
  const prefix = top.string("prefix", prefixProblem);
  return {
    supervisor: top.string("supervisor", identityProblem),
    host: host === null ? null : shortHost(host),
    workspace: top.string("workspace"),
    harness: top.oneOf<HarnessName>("harness", HARNESS_NAMES) ?? "claude",
    bin: top.string("bin", matches(BIN, 'letters, digits, ".", "_", "/" and "-" only, no arguments')),
    model: top.string("model", matches(MODEL, 'letters, digits, ".", "_", ":", "/" and "-" only')),
    transport: top.oneOf<Transport>("transport", TRANSPORTS) ?? "ding",
    persona: top.string("persona"),
    strategy: top.oneOf<Strategy>("strategy", STRATEGIES) ?? "permanent",
    retired: top.boolean("retired") ?? false,
    prefix: prefix === null ? null : prefix.toLowerCase(),
    env: top.strings("env", envNameProblem),
    render: readRender(top),
  };
}

function readRender(top: TableReader): Declaration["render"] {
  const render = top.subtable("render");
  if (render === null) return { file: [], dir: [] };
  const taken = new Set<string>();
  const file = render.tables("file").flatMap((entry): RenderFile[] => {
    const dest = entry.requiredString("dest", fileDestProblem);
    const from = entry.requiredString("from");
    const mode = entry.string("mode", modeProblem);
    entry.warnOfUnknown();
    const destPath = [...entry.path, "dest"];
    if (dest !== null && taken.has(normalDest(dest)))
      entry.error(
        destPath,
        `${memberName(destPath)} ${JSON.stringify(dest)} is another file's destination too`,
      );
    taken.add(normalDest(dest ?? ""));
    return dest === null || from === null ? [] : [{ dest, from, mode }];
  });
  const dir = render.tables("dir").flatMap((entry): RenderDir[] => {
    const dest = entry.requiredString("dest", dirDestProblem);
    const from = entry.requiredString("from");
    entry.warnOfUnknown();
    return dest === null || from === null ? [] : [{ dest, from }];
  });
  render.warnOfUnknown();
  return { file, dir };
}

function readTasks(top: TableReader, ptys: boolean): Task[] {
  const both = top.has("pty") && ptys && top.has("ptys");
  if (both) top.error(["ptys"], "pty and ptys are two spellings of one member: write one of them");
  const table = top.subtable(!top.has("pty") && ptys ? "ptys" : "pty");
  if (table === null) return [];
  const tasks = Object.keys(table.table).flatMap((name): Task[] => {
    const reader = table.subtable(name);
    if (!isSessionName(name))
      table.error(
        [...table.path, name],
        `a task's name is letters, digits, ".", "_" and "-", found "${name}"`,
      );
    return reader === null ? [] : readTask(name, reader);
  });
  const main = tasks.filter((task) => task.tags.role === "agent");
  if (main.length > 1)
    table.warning(
      [...table.path, main[1]!.name],
      `two tasks are tagged role=agent: the first, ${main[0]!.name}, is the agent's own`,
    );
  return tasks;
}

function readTask(name: string, reader: TableReader): Task[] {
  const command = reader.requiredString("command");
  const task = {
    name,
    id: reader.string("id", sessionNameProblem),
    cwd: reader.string("cwd"),
    tags: reader.strings("tags", () => null),
    env: reader.strings("env", envNameProblem),
    keep: reader.boolean("keep"),
  };
  reader.warnOfUnknown();
  return command === null ? [] : [{ ...task, command }];
}

const hostProblem: StringCheck = (value) =>
  isHostName(shortHost(value))
    ? null
    : `"${value}" is not a host's name (letters, digits, "-"; the first label counts)`;

const prefixProblem: StringCheck = (value) => {
  const folded = value.toLowerCase();
  if (RESERVED_IDENTITIES.has(folded) || identityProblem(folded) === null) return null;
  return folded === ""
    ? "is empty"
    : `"${value}" must be letters, digits, "." and "-", with a letter or digit at both ends`;
};

const sessionNameProblem: StringCheck = (value) =>
  isSessionName(value) ? null : `"${value}" is not a session's name: letters, digits, ".", "_" and "-"`;

const envNameProblem: StringCheck = (name) => {
  if (name === "") return "is empty";
  return name.includes("=") ? 'contains "="' : null;
};

function matches(pattern: RegExp, wanted: string): StringCheck {
  return (value) =>
    nonEmpty(value) ?? (pattern.test(value) ? null : `must be ${wanted}, found ${JSON.stringify(value)}`);
}

/**
 * The ledger `<name>.json` of `.convoy/sessions/` as text and as data. Strict, because life and death hang on it:
 * a member of a wrong type makes the whole ledger a problem. Forward compatible: members that are not known stay
 * when it is rewritten, absent ones get their empty value, and in a ledger of a newer version what cannot be used
 * is left out where no judgement of life or death depends on it.
 */
import type { Declaration } from "./declaration.ts";
import { HARNESS_NAMES, ROLES } from "./declaration.ts";
import {
  carryMembers,
  formatJson,
  isJsonObject,
  isStringList,
  type JsonObject,
  parseJsonObject,
} from "./json-members.ts";
import type { Ledger } from "./ledger.ts";
import { HOST_PROTOCOL, LEDGER_VERSION } from "./ledger.ts";

export interface ParsedLedger {
  readonly ledger: Ledger;
  /** The object as it stands in the file; `formatLedger` needs it to keep what `ledger` leaves out. */
  readonly raw: JsonObject;
  /** What a newer version writes and this one cannot use. */
  readonly problems: readonly string[];
}

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === "string";
const isName: Check = (value) => typeof value === "string" && value !== "";
const isBoolean: Check = (value) => typeof value === "boolean";
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isStringMap: Check = (value) => {
  if (!isJsonObject(value)) return false;
  for (const key in value) if (typeof value[key] !== "string") return false;
  return true;
};
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const oneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shape =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isJsonObject(value) && Object.entries(members).every(([key, check]) => check(value[key]));

const isProcess = shape({ pid: (value) => isCount(value) && value !== 0, start: isString });
const isEnd = shape({
  exitCode: orNull(Number.isInteger),
  exitedAt: orNull(isString),
  lastLines: isStringList,
  error: orNull(isString),
});
const isSpec = shape({
  name: isName,
  agent: isName,
  identity: isName,
  task: isName,
  main: isBoolean,
  command: isString,
  args: isStringList,
  displayCommand: isString,
  cwd: isString,
  env: isStringMap,
  tags: isStringMap,
  binary: orNull(isString),
});
const isTask = shape({
  name: isName,
  command: isString,
  id: orNull(isString),
  cwd: orNull(isString),
  tags: isStringMap,
  env: isStringMap,
  keep: orNull(isBoolean),
});
const DECLARATION: { readonly [member in keyof Declaration]: Check } = {
  identity: isName,
  role: oneOf(ROLES),
  supervisor: orNull(isString),
  host: orNull(isString),
  workspace: orNull(isString),
  harness: oneOf(HARNESS_NAMES),
  bin: orNull(isString),
  model: orNull(isString),
  transport: oneOf(["ding", "mcp"]),
  persona: orNull(isString),
  strategy: oneOf(["permanent", "batch"]),
  retired: isBoolean,
  prefix: orNull(isString),
  env: isStringMap,
  render: shape({
    file: listOf(shape({ dest: isString, from: isString, mode: orNull(isString) })),
    dir: listOf(shape({ dest: isString, from: isString })),
  }),
  tasks: listOf(isTask),
};
const isDeclaration = shape({ path: isString, hostWritten: isBoolean, declaration: shape(DECLARATION) });

interface Member {
  readonly check: Check;
  /** The value of an absent member; without one it must be there. */
  readonly absent?: unknown;
  /** Life and death, or a relaunch, hang on it: wrong in any version is a problem. */
  readonly vital?: true;
}

const MEMBERS: { readonly [member in Exclude<keyof Ledger, "v">]: Member } = {
  agent: { check: isName, vital: true },
  identity: { check: isName, vital: true },
  task: { check: isName, vital: true },
  host: { check: orNull(isProcess), vital: true },
  child: { check: orNull(isProcess), vital: true },
  socket: { check: orNull(isString), absent: null },
  boot: { check: isName, vital: true },
  version: { check: isString, absent: "" },
  protocol: { check: isCount, absent: HOST_PROTOCOL },
  launchId: { check: isName, vital: true },
  launchedAt: { check: isString, vital: true },
  declaration: { check: orNull(isDeclaration), absent: null },
  spec: { check: isSpec, vital: true },
  baseEnv: { check: isStringMap, absent: {} },
  tags: { check: isStringMap, absent: {} },
  tagsAt: { check: orNull(isString), absent: null },
  endedBy: { check: oneOf([null, "down", "restart", "retire"]), absent: null },
  terminated: { check: isBoolean, absent: false },
  restarts: { check: isCount, absent: 0 },
  end: { check: orNull(isEnd), absent: null, vital: true },
  previous: { check: listOf(isEnd), absent: [] },
  reportedEnd: { check: orNull(isString), absent: null },
  failedLaunch: { check: isBoolean, absent: false },
};

const MEMBER_LIST: readonly (readonly [string, Member])[] = Object.entries(MEMBERS);

/** Reads a ledger; a problem when it is torn, or damaged where it must not be. */
export function parseLedger(text: string): ParsedLedger | { readonly problem: string } {
  const parsed = parseJsonObject(text);
  if ("problem" in parsed) return parsed;
  const raw = parsed.object;
  const version = raw.v;
  if (!Number.isInteger(version) || (version as number) < 1) return { problem: 'has no version "v"' };
  const newer = (version as number) > LEDGER_VERSION;
  const replacements: JsonObject = {};
  const problems: string[] = [];
  for (const [key, member] of MEMBER_LIST) {
    const there = Object.hasOwn(raw, key);
    if (there && member.check(raw[key])) continue;
    const replaced = "absent" in member && (!there || (newer && member.vital !== true));
    if (!replaced) return { problem: there ? `has a "${key}" that cannot be used` : `lacks "${key}"` };
    if (there) problems.push(`"${key}" is of a newer convoy (version ${version}) and is left as it is`);
    replacements[key] = member.absent;
  }
  return { ledger: { ...raw, ...replacements } as unknown as Ledger, raw, problems };
}

/**
 * The file's text. With `previous`, the reading that `ledger` was made from, what that reading could not use and the
 * version it was written with are kept.
 */
export function formatLedger(ledger: Ledger, previous: ParsedLedger | null = null): string {
  return formatJson(previous === null ? ledger : carryMembers(previous.raw, previous.ledger, ledger));
}

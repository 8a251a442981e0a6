/** Checks of one network: paths, permissions, locks, sessions, its service. Facts in, an answer out. */
import type { AgentRow } from "./agent-state.ts";
import { count } from "./count.ts";
import { type Check, fail, pass, unknown } from "./doctor.ts";
import { MAX_SOCKET_PATH_BYTES } from "./identity.ts";
import type { ServiceProblem } from "./service-status.ts";
import { socketPathProblem } from "./session-names.ts";

/** Room that a session id of an ordinary host and agent takes. */
const ORDINARY_NAME_BYTES = 32;

/**
 * `names`: session ids that are declared for this host. `refused`: what the catalog's reading says of a declaration whose
 * session ids are too long; null when it says nothing.
 */
export function checkPathLengths(network: string, names: readonly string[], refused: string | null): Check {
  const name = "path-lengths";
  const problem = refused ?? socketPathProblem(network, names);
  const fix = "a shorter path for the network: convoy init <shorter>";
  if (problem !== null) return fail(name, problem, fix);
  const room = MAX_SOCKET_PATH_BYTES - new TextEncoder().encode(`${network}/pty/.sock`).length;
  const message = `room for session ids of ${room} bytes`;
  return room < ORDINARY_NAME_BYTES && names.length === 0 ? fail(name, message, fix) : pass(name, message);
}

/** A folder of the network. */
export interface FolderFacts {
  readonly path: string;
  readonly present: boolean;
  /** Whether it may hold what only its owner should see. */
  readonly isPrivate: boolean;
  /** Permission bits. */
  readonly mode: number;
  readonly own: boolean;
  readonly writable: boolean;
}

export function checkPermissions(folders: readonly FolderFacts[]): Check {
  const name = "permissions";
  for (const { path, present, isPrivate, mode, own, writable } of folders) {
    if (!present) continue;
    if (!own) return fail(name, `${path} belongs to another user`, `sudo chown -R "$(id -un)" '${path}'`);
    if (!writable) return fail(name, `${path} cannot be written to`, `chmod u+rwx '${path}'`);
    if (isPrivate && (mode & 0o077) !== 0)
      return fail(name, `${path} is open to other users (${mode.toString(8)})`, `chmod 700 '${path}'`);
  }
  const there = folders.filter(({ present }) => present).length;
  return there === 0
    ? unknown(name, "there is no folder of the network yet", "convoy init")
    : pass(name, `${count(there, "folder")}: own, writable, and private where they must be`);
}

export interface LockFacts {
  readonly path: string;
  readonly held: boolean;
  readonly ageMs: number;
}

/** A lock is held for one read-change-write, or one launch. */
const LONG_MS = 60_000;

export function checkLocks(locks: readonly LockFacts[]): Check {
  const name = "stale-locks";
  const stale = locks.filter(({ held, ageMs }) => !held && ageMs > LONG_MS);
  if (stale[0] !== undefined)
    return fail(
      name,
      `${count(stale.length, "lock")} of dead processes, ${stale[0].path} for one`,
      "convoy up --once removes them, when no supervisor runs; so does the next who wants one",
    );
  const long = locks.find(({ held, ageMs }) => held && ageMs > LONG_MS);
  if (long !== undefined)
    return unknown(
      name,
      `${long.path} has been held for ${Math.floor(long.ageMs / 1_000)} s`,
      `look who holds it: cat '${long.path}'`,
    );
  return pass(name, locks.length === 0 ? "none" : `none; ${count(locks.length, "lock")} in use`);
}

type Row = Pick<AgentRow, "identity"> & { readonly sessions: readonly SessionFact[] };
type SessionFact = Pick<AgentRow["sessions"][number], "name" | "state" | "pid">;

export function checkSessions(agents: readonly Row[]): Check {
  const name = "sessions";
  const all = agents.flatMap(({ identity, sessions }) => sessions.map((one) => ({ ...one, identity })));
  const orphaned = all.filter(({ state }) => state === "orphaned");
  if (orphaned[0] !== undefined)
    return fail(
      name,
      `orphaned, without screen and input: ${orphaned.map((one) => one.name).join(", ")}`,
      `when it suits: convoy restart ${orphaned[0].identity}`,
    );
  const unverifiable = all.filter(({ state }) => state === "unknown");
  if (unverifiable[0] !== undefined)
    return unknown(
      name,
      `cannot tell whether these live: ${unverifiable.map((one) => one.name).join(", ")}`,
      unverifiable[0].pid === null ? "convoy ls" : `ps -p ${unverifiable[0].pid}`,
    );
  return pass(name, `${count(all.length, "session")}, none orphaned, none unverifiable`);
}

/** `problems` is null where no service is installed. */
export function checkService(unit: string, problems: readonly ServiceProblem[] | null): Check {
  const name = "service";
  if (problems === null) return pass(name, "none is installed for this network");
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong !== undefined) return fail(name, `${unit}: ${wrong.message}`, wrong.next);
  const [odd] = problems;
  return pass(name, odd === undefined ? `${unit} supervises` : `${unit}: ${odd.message}`);
}

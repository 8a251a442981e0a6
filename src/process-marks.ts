/** What a process shows of the session that it belongs to, in its environment and its command line. */
import { parseJsonObject } from "./json-members.ts";

/** The session that a process names in its environment. */
export interface Mark {
  /** `PTY_SESSION`. */
  readonly session: string;
  /** `ST_ROOT`; null when it has shed that. */
  readonly stRoot: string | null;
}

/** The mark in an environment of `NAME=value` strings; null when there is none, or the environment cannot be read. */
export function markOf(environment: readonly string[] | null): Mark | null {
  const session = variable("PTY_SESSION", environment);
  return session === null ? null : { session, stRoot: variable("ST_ROOT", environment) };
}

/** Everything in an environment that tells of a session. */
export interface Marks {
  readonly session: string | null;
  readonly stRoot: string | null;
  /** Registries that it names: pty 0.10 reads `PTY_SESSION_DIR`, 0.12 prefers `PTY_ROOT`. */
  readonly registries: readonly string[];
  /** The session that this process hosts for pty's program (`PTY_SERVER_CONFIG`); null when it is no such host. */
  readonly ptyHostOf: string | null;
}

export function marksOf(environment: readonly string[] | null): Marks {
  const registries = [variable("PTY_ROOT", environment), variable("PTY_SESSION_DIR", environment)];
  return {
    session: variable("PTY_SESSION", environment),
    stRoot: variable("ST_ROOT", environment),
    registries: registries.filter((path) => path !== null),
    ptyHostOf: hostedName(variable("PTY_SERVER_CONFIG", environment)),
  };
}

function hostedName(config: string | null): string | null {
  if (config === null) return null;
  const parsed = parseJsonObject(config);
  return "object" in parsed && typeof parsed.object.name === "string" ? parsed.object.name : null;
}

function variable(name: string, environment: readonly string[] | null): string | null {
  const entry = environment?.find((text) => text.startsWith(`${name}=`));
  return entry === undefined ? null : entry.slice(name.length + 1);
}

/** What a session host is for, by its command line `… __session-host <registry> <session>`; null for any other. */
export function hostLineOf(args: readonly string[] | null): { registry: string; session: string } | null {
  const at = args?.indexOf("__session-host") ?? -1;
  const [registry, session] = at < 0 ? [] : (args?.slice(at + 1) ?? []);
  return registry === undefined || session === undefined ? null : { registry, session };
}

/** Whether a command line is that of the session host of `session`. */
export function isHostLine(args: readonly string[] | null, session: string): boolean {
  return hostLineOf(args)?.session === session;
}

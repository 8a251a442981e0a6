/** Which network a command is about: one order everywhere (formats: docs/disk-layout.md). */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { ConvoyError } from "./errors.ts";

export const DEFAULT_NETWORK = "default";
const NETWORK_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export interface NetworkQuestion {
  /** The positional argument or `--network`; null when neither was given. A name or a path. */
  readonly explicit: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Home directory, absolute. */
  readonly home: string;
}

/**
 * The network's directory, absolute: what was given, else `CONVOY_NETWORK` (a directory), else `ST_ROOT` (the bus: its
 * parent when its last segment is `smalltalk`), else the network named `default`. Empty variables count as absent.
 * Throws a `ConvoyError` "usage" when what was given is neither a name nor a path.
 */
export function networkRoot(question: NetworkQuestion): string {
  const { explicit, env } = question;
  if (explicit !== null) return explicitRoot(explicit, question);
  if (env.CONVOY_NETWORK) return absolute(env.CONVOY_NETWORK, question);
  if (env.ST_ROOT) {
    const bus = absolute(env.ST_ROOT, question);
    return basename(bus) === "smalltalk" ? dirname(bus) : bus;
  }
  return namedRoot(DEFAULT_NETWORK, question);
}

function explicitRoot(given: string, question: NetworkQuestion): string {
  if (NETWORK_NAME.test(given)) return namedRoot(given, question);
  if (given.includes("/") || given.startsWith("~") || given.startsWith(".")) return absolute(given, question);
  throw new ConvoyError(
    "usage",
    `"${given}" is not a network: a name has letters, digits, ".", "_" and "-" and starts with a letter or digit`,
    `for a directory of that name type ./${given}`,
  );
}

/** Where the network called `name` lives. A relative XDG_STATE_HOME is ignored, as its specification says. */
function namedRoot(name: string, { env, home }: NetworkQuestion): string {
  const state = env.XDG_STATE_HOME;
  const base = state !== undefined && isAbsolute(state) ? state : join(home, ".local", "state");
  return join(base, "convoy", name);
}

function absolute(path: string, { cwd, home }: NetworkQuestion): string {
  if (path === "~" || path.startsWith("~/")) return resolve(home, path.slice(2));
  return resolve(cwd, path);
}

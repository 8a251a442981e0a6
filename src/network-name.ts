/** Which network a command means: a folder, from an argument, the environment or the default name (docs/disk-layout.md). */
import { basename, dirname, join, resolve } from "node:path";

export const DEFAULT_NETWORK = "default";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export type NetworkSource = "argument" | "CONVOY_NETWORK" | "ST_ROOT" | "default";

export interface Network {
  /** Absolute, without a trailing slash, links not resolved. */
  readonly root: string;
  readonly source: NetworkSource;
  /** The argument as it was typed; null when the network came from elsewhere. */
  readonly written: string | null;
}

export interface NetworkQuestion {
  /** A name or a path, as `[network]` or `--network` gave it; null when neither did. */
  readonly explicit: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home folder, absolute. */
  readonly home: string;
  /** Current folder, absolute: where relative paths start. */
  readonly cwd: string;
}

/**
 * The network that is meant: the argument; then `CONVOY_NETWORK`; then `ST_ROOT`; then the default name.
 * An empty variable counts as unset. Whether the folder exists is not asked. `problem` is text for a person.
 */
export function resolveNetwork(question: NetworkQuestion): Network | { readonly problem: string } {
  const { explicit, env } = question;
  if (explicit !== null) return fromArgument(explicit, question);
  if (env.CONVOY_NETWORK) return fromPath(env.CONVOY_NETWORK, "CONVOY_NETWORK", question);
  if (env.ST_ROOT) {
    const bus = fromPath(env.ST_ROOT, "ST_ROOT", question);
    if ("problem" in bus || basename(bus.root) !== "smalltalk") return bus;
    return { ...bus, root: dirname(bus.root) };
  }
  return { root: namedNetwork(DEFAULT_NETWORK, question), source: "default", written: null };
}

function fromArgument(value: string, question: NetworkQuestion): Network | { problem: string } {
  if (value.includes("/") || /^[~.]/.test(value)) return fromPath(value, "argument", question);
  if (isNetworkName(value))
    return { root: namedNetwork(value, question), source: "argument", written: value };
  return {
    problem: `"${value}" is not a network: a name (letters, digits, ".", "_", "-", starting with a letter or digit) or a path with a "/"`,
  };
}

function fromPath(
  value: string,
  source: NetworkSource,
  { home, cwd }: NetworkQuestion,
): Network | { problem: string } {
  const origin = source === "argument" ? `"${value}"` : `${source}="${value}"`;
  if (/^~[^/]/.test(value))
    return { problem: `${origin}: another user's home is not looked up; write the whole path` };
  const path = value.startsWith("~") ? join(home, value.slice(1)) : value;
  return { root: resolve(cwd, path), source, written: source === "argument" ? value : null };
}

/** Whether a network can be called that, so that it is no path. */
export function isNetworkName(text: string): boolean {
  return NAME.test(text);
}

/** The folder that named networks are in; a relative `XDG_STATE_HOME` is ignored, as its specification says. */
export function namedNetworksFolder({ env, home }: Pick<NetworkQuestion, "env" | "home">): string {
  const state = env.XDG_STATE_HOME;
  return join(state?.startsWith("/") ? state : join(home, ".local", "state"), "convoy");
}

function namedNetwork(name: string, question: NetworkQuestion): string {
  return join(namedNetworksFolder(question), name);
}

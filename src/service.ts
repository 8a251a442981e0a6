/**
 * The service that supervises one network: its name, what it runs, and the environment that it records
 * (docs/decisions/0061-what-a-service-runs.md). `systemd-unit.ts` and `launch-agent.ts` are its two spellings.
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { BARE_PATH } from "./environment.ts";

/** Programs that start services for a person: systemd's user manager, launchd's agents. */
export const SERVICE_MANAGERS = ["systemd", "launchd"] as const;
export type ServiceManager = (typeof SERVICE_MANAGERS)[number];

export interface Service {
  /** Absolute root of the network. */
  readonly network: string;
  /** Absolute path of convoy, by the name that outlives an upgrade. */
  readonly binary: string;
  /** Shell file that is read before each start, where it is there. */
  readonly environmentFile: string;
  /** Arguments of `convoy`. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface SupervisionOptions {
  readonly intervalSeconds: number | null;
  readonly fastFailWindow: number | null;
  readonly fastFailLimit: number | null;
  readonly onEvent: string | null;
}

/** What a service runs: `up` that respects holds, and waits for its turn beside another supervisor. */
export function serviceWords(network: string, options: SupervisionOptions): string[] {
  const words = ["up", "--network", network, "--keep-holds", "--wait"];
  const { intervalSeconds, fastFailWindow, fastFailLimit, onEvent } = options;
  if (intervalSeconds !== null) words.push(`--interval=${intervalSeconds}`);
  if (fastFailWindow !== null) words.push(`--fast-fail-window=${fastFailWindow}`);
  if (fastFailLimit !== null) words.push(`--fast-fail-limit=${fastFailLimit}`);
  if (onEvent !== null) words.push(`--on-event=${onEvent}`);
  return words;
}

/** Longest part of a folder's name in a service's. */
const MOST_NAME = 40;

/**
 * Name of a network's service, for both managers: `convoy-<name>` of a named network at its usual place, else the
 * folder's name and eight hex digits of its path. Letters, digits, `.`, `_` and `-` only.
 */
export function serviceName(network: string, home: string): string {
  const name = basename(network);
  const plain = /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
  if (plain && dirname(network) === join(home, ".local", "state", "convoy")) return `convoy-${name}`;
  const readable = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, MOST_NAME);
  const digits = createHash("sha256").update(network).digest("hex").slice(0, 8);
  return ["convoy", readable, digits].filter((part) => part !== "").join("-");
}

/**
 * Reads the environment file, looks for convoy on PATH where its own file is gone, and becomes it. `$0` is the binary,
 * `$1` the environment file, the rest convoy's arguments.
 */
const START = [
  "bin=$0 file=$1",
  "shift",
  'if [ -r "$file" ]; then set -a; . "$file"; set +a; fi',
  '[ -x "$bin" ] || bin=$(command -v convoy) || { echo "convoy: $0 is gone, and PATH has no convoy: $PATH" >&2; exit 127; }',
  'exec "$bin" "$@"',
].join("; ");

/** The command line of a service. */
export function serviceCommand({ binary, environmentFile, words }: Service): string[] {
  return ["/bin/sh", "-c", START, binary, environmentFile, ...words];
}

/** The service that a command line and an environment belong to; null when it is not one of `serviceCommand`'s. */
export function readServiceCommand(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Service | null {
  const [shell, flag, script, binary, environmentFile, ...words] = command;
  const [verb, networkFlag, network] = words;
  if (shell !== "/bin/sh" || flag !== "-c" || script !== START) return null;
  if (binary === undefined || environmentFile === undefined || network === undefined) return null;
  if (verb !== "up" || networkFlag !== "--network") return null;
  return { network, binary, environmentFile, words, environment };
}

/** What says where things are, and no secret: recorded, so that a service finds what its installer finds. */
const RECORDED = [
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "CONVOY_HOST",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
  "TZ",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
];

/** What of `env` a service records: its PATH without relative folders, and the variables above that are set. */
export function recordedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const folders = (env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const recorded: Record<string, string> = {};
  recorded.PATH = folders.length === 0 ? BARE_PATH : [...new Set(folders)].join(":");
  for (const name of RECORDED) {
    const value = env[name];
    if (value) recorded[name] = value;
  }
  return recorded;
}

/** What keeps a service from being written down, as a clause for a person; null when nothing does. */
export function serviceFault(service: Service): string | null {
  const texts = [...serviceCommand(service), ...Object.values(service.environment)];
  const wrong = texts.find(
    (text) => /[\u0000-\u001f\u007f-\u009f\ufffd-\uffff]/.test(text) || !text.isWellFormed(),
  );
  if (wrong === undefined) return null;
  return `${JSON.stringify(wrong)} has a character that a service cannot be given`;
}

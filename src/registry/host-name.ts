/**
 * This machine's name in one network: `CONVOY_HOST`, else the name remembered when `up` first ran, else the
 * operating system's. A remembered name stays in force when the system's changes; the difference is said.
 */
import process from "node:process";
import { ConvoyError, messageOf } from "../errors.ts";
import { shortHost } from "../identity.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { effect } from "../system/effects.ts";
import { systemHostName } from "../system/host-name.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { ensureFolder } from "./changes.ts";
import { readText } from "./files.ts";

export interface HostName {
  /** Short, lower case. */
  readonly host: string;
  readonly source: "override" | "remembered" | "system";
  /** For a person: how the name in force differs from another that has a claim; null when it does not. */
  readonly notice: string | null;
}

export interface HostNameSources {
  /** Value of `CONVOY_HOST`; empty or absent is none. */
  readonly override?: string | undefined;
  /** The system's short name; asked of the system when absent. */
  readonly system?: string;
}

const HOST = /^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/;

/** The name in force. Writes nothing. Throws a `ConvoyError` "usage" when `CONVOY_HOST` cannot be a host name. */
export function readHostName(
  paths: Pick<NetworkPaths, "name">,
  sources: HostNameSources = { override: process.env.CONVOY_HOST },
): HostName {
  const system = sources.system ?? systemHostName();
  const remembered = readRemembered(paths.name);
  const override = overrideOf(sources.override);
  if (override !== null) {
    const differs = remembered.host !== null && remembered.host !== override;
    const notice = differs
      ? `CONVOY_HOST makes this machine ${override}; the name remembered here is ${remembered.host}`
      : null;
    return { host: override, source: "override", notice };
  }
  if (remembered.host === null) return { host: system, source: "system", notice: remembered.problem };
  const notice =
    remembered.host === system
      ? null
      : `this machine now calls itself ${system}; it stays ${remembered.host} here, as ${paths.name} remembers`;
  return { host: remembered.host, source: "remembered", notice };
}

/**
 * The name in force, written down if none is remembered yet; `up` alone calls this. An override is remembered too when
 * it is there at the first `up`, and never replaces a name.
 */
export function rememberHostName(
  paths: Pick<NetworkPaths, "name" | "state">,
  sources: HostNameSources = { override: process.env.CONVOY_HOST },
): HostName {
  const name = readHostName(paths, sources);
  if (readRemembered(paths.name).host !== null) return name;
  ensureFolder(paths.state);
  try {
    writeFileAtomic(paths.name, `${name.host}\n`);
  } catch (error) {
    throw new ConvoyError(
      "failed",
      `cannot remember this machine's name in ${paths.name}: ${messageOf(error)}`,
    );
  }
  effect("name-write");
  return name;
}

function overrideOf(value: string | undefined): string | null {
  if (value === undefined || value === "") return null;
  const host = shortHost(value);
  if (HOST.test(host)) return host;
  throw new ConvoyError("usage", `CONVOY_HOST="${value}" is not a host name`);
}

function readRemembered(path: string): { readonly host: string | null; readonly problem: string | null } {
  const file = readText(path);
  if (file.state === "missing") return { host: null, problem: null };
  const host = file.state === "read" ? shortHost(file.text.trim()) : "";
  if (HOST.test(host)) return { host, problem: null };
  const fault = file.state === "unreadable" ? file.message : "holds no host name";
  return { host: null, problem: `${path} ${fault}; the system's name is used` };
}

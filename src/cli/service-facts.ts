/** The service of one network on this machine: what it should be, where it belongs, and what is there. */

import { join } from "node:path";
import process from "node:process";
import { ConvoyError } from "../errors.ts";
import { formatLaunchAgent, LAUNCH_AGENT_MARK, parseLaunchAgent } from "../launch-agent.ts";
import { readText } from "../registry/files.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { binaryState, ownBinary } from "../service/binary.ts";
import { lookAtAgent } from "../service/launchd.ts";
import { lookAtUnit, readLingering } from "../service/systemd.ts";
import {
  recordedEnvironment,
  type Service,
  type ServiceManager,
  type SupervisionOptions,
  serviceFault,
  serviceName,
  serviceWords,
} from "../service.ts";
import type { ServiceFacts, ServiceRun } from "../service-status.ts";
import { userName } from "../system/login.ts";
import { networkPaths } from "../system/paths.ts";
import { formatUnit, parseUnit, UNIT_MARK } from "../systemd-unit.ts";
import { VERSION } from "../version.ts";
import type { CommandContext } from "./command.ts";

export type Around = Pick<CommandContext, "env" | "home" | "cwd">;

/** Where a network's service belongs. */
export interface ServicePlace {
  readonly manager: ServiceManager;
  readonly network: string;
  /** As `ServiceFacts.unit` and `path`. */
  readonly unit: string;
  readonly path: string;
  readonly environmentFile: string;
  /** What the supervisor prints under launchd. */
  readonly log: string;
  readonly logCommand: string;
}

/** The manager of this machine, whether or not it is there. */
export function usualManager(): ServiceManager {
  return process.platform === "darwin" ? "launchd" : "systemd";
}

export function placeOf(network: string, manager: ServiceManager, { env, home }: Around): ServicePlace {
  const name = serviceName(network, home);
  const config = env.XDG_CONFIG_HOME?.startsWith("/") ? env.XDG_CONFIG_HOME : join(home, ".config");
  const environmentFile = join(config, "convoy", `${name}.env`);
  const log = networkPaths(network).upLog;
  if (manager === "launchd") {
    const path = join(home, "Library", "LaunchAgents", `${name}.plist`);
    return { manager, network, unit: name, path, environmentFile, log, logCommand: `tail -F ${log}` };
  }
  const unit = `${name}.service`;
  const path = join(config, "systemd", "user", unit);
  return { manager, network, unit, path, environmentFile, log, logCommand: `journalctl --user -u ${unit}` };
}

/** The service as it would be installed now. Throws a `ConvoyError` where it cannot be written down. */
export function serviceOf(place: ServicePlace, options: SupervisionOptions, { env, cwd }: Around): Service {
  const service = {
    network: place.network,
    binary: ownBinary({ cwd, path: env.PATH ?? "" }),
    environmentFile: place.environmentFile,
    words: serviceWords(place.network, options),
    environment: recordedEnvironment(env),
  };
  const fault = serviceFault(service);
  if (fault !== null)
    throw new ConvoyError("failed", fault, "give it another name, or start convoy up --detach");
  return service;
}

export function formatService(place: ServicePlace, service: Service): string {
  if (place.manager === "systemd") return formatUnit(service);
  return formatLaunchAgent(service, place.unit, place.log);
}

/** What is there. `wanted` is the text to compare the file with; null: what convoy would write for the file's own service. */
export async function gatherFacts(
  place: ServicePlace,
  wanted: string | null,
  around: Around,
): Promise<ServiceFacts> {
  const { file, installed } = readInstalled(place, wanted);
  const holder = readSupervisor(networkPaths(place.network));
  const user = userName();
  return {
    manager: place.manager,
    unit: place.unit,
    path: place.path,
    file,
    binary: installed?.binary ?? null,
    binaryState: installed === null ? null : binaryState(installed.binary),
    run: await lookAtService(place, around),
    supervisor: holder === null ? null : { pid: holder.pid, version: holder.version },
    lingering: place.manager === "systemd" ? readLingering(user) : null,
    user,
    version: VERSION,
    logCommand: place.logCommand,
  };
}

export function lookAtService(
  { manager, unit }: ServicePlace,
  { env }: Around,
): Promise<ServiceRun | { readonly problem: string }> {
  return manager === "systemd" ? lookAtUnit(unit, env) : lookAtAgent(unit, env);
}

/** The file that is there, and the service that it describes; null where there is none of convoy's. */
export function readInstalled(
  place: ServicePlace,
  wanted: string | null = null,
): { readonly file: ServiceFacts["file"]; readonly installed: Service | null } {
  const found = readText(place.path);
  if (found.state !== "read") return { file: found.state, installed: null };
  const [parse, mark] =
    place.manager === "systemd" ? [parseUnit, UNIT_MARK] : [parseLaunchAgent, LAUNCH_AGENT_MARK];
  if (!found.text.includes(mark)) return { file: "foreign", installed: null };
  const installed = parse(found.text);
  const expected = wanted ?? (installed === null ? null : formatService(place, installed));
  return { file: found.text === expected ? "current" : "differs", installed };
}

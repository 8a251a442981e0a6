/** `convoy doctor`: gathers the facts of machine and network, and has each judged. */
import { listDocument } from "../agent-state.ts";
import { credentialNames } from "../credentials.ts";
import { type Check, fail, unknown } from "../doctor.ts";
import { ConvoyError } from "../errors.ts";
import { agentHere } from "../in-force.ts";
import { hasLogind, readKillsUserProcesses, whereaboutsOf } from "../machine/logout.ts";
import { countFolders, readDisk, readFolder, readSynchronized } from "../machine/state.ts";
import { readWatches } from "../machine/watches.ts";
import { checkClock, checkDisk, checkLingering, checkLogout, checkWatches } from "../machine-checks.ts";
import {
  checkLocks,
  checkPathLengths,
  checkPermissions,
  checkService,
  checkSessions,
} from "../network-checks.ts";
import { checkCredentials, namesSetIn } from "../program-checks.ts";
import { readText } from "../registry/files.ts";
import { listLocks } from "../registry/locks.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { readLingering } from "../service/systemd.ts";
import { judgeService } from "../service-status.ts";
import { userName } from "../system/login.ts";
import { type NetworkPaths, networkPaths } from "../system/paths.ts";
import { VERSION } from "../version.ts";
import type { CommandContext } from "./command.ts";
import { printChecks } from "./doctor-output.ts";
import { checkPrograms } from "./doctor-programs.ts";
import { type Look, lookAt } from "./look.ts";
import { networkFlag } from "./network.ts";
import { gatherFacts, placeOf, readInstalled, type ServicePlace, usualManager } from "./service-facts.ts";

type Context = Omit<CommandContext, "args">;

/** Resolves to the exit code. */
export async function runDoctor(context: Context): Promise<number> {
  const network = context.network();
  const paths = networkPaths(network.root);
  const flag = networkFlag(network);
  const progress = context.output.progress("looking at this machine");
  try {
    const look = await tryLook(context);
    const place = placeOf(network.root, usualManager(), context);
    const checks = [
      ...networkChecks(paths, look, flag),
      ...(await machineChecks(paths, look, place, context)),
      ...(await programChecks(look, place, context)),
      await serviceCheck(place, flag, context),
    ];
    progress.stop();
    const document = { type: "doctor", network: network.root, version: VERSION };
    const code = printChecks(checks, document, context.json, context.output);
    const bare = checks.some(({ fix }) => /convoy (?!.*--network)/.test(fix ?? ""));
    if (!context.json && flag !== "" && bare) context.output.note(`The commands above need${flag}.`);
    return code;
  } finally {
    progress.stop();
  }
}

/** The network as `ls` sees it, or what keeps it from being seen. */
type Tried = { readonly look: Look } | { readonly error: ConvoyError };

async function tryLook(context: Context): Promise<Tried> {
  try {
    return { look: await lookAt(context) };
  } catch (error) {
    if (error instanceof ConvoyError) return { error };
    throw error;
  }
}

function networkChecks(paths: NetworkPaths, tried: Tried, flag: string): Check[] {
  const { root, pty, state, ledgers, catalog, smalltalk, worktrees } = paths;
  const folders = [
    ...[pty, state, ledgers].map((path) => readFolder(path, true)),
    ...[catalog, smalltalk, worktrees].map((path) => readFolder(path, false)),
  ];
  const permissions = checkPermissions(folders);
  if ("error" in tried) {
    const { code, message, next } = tried.error;
    const seen =
      code === "not-found"
        ? unknown("network", message, next)
        : fail("network", message, next ?? `convoy ls${flag}`);
    return [seen, checkPathLengths(root, [], null), permissions];
  }
  const { world, decision } = tried.look;
  const names = world.inForce.agents
    .filter((agent) => agentHere(agent, world.host))
    .flatMap(({ specs }) => specs.map(({ name }) => name));
  const refused = decision.problems.find(({ message }) => message.startsWith("socket path "));
  return [
    checkPathLengths(root, names, refused?.message ?? null),
    permissions,
    checkLocks(listLocks(paths, world.now.getTime())),
    checkSessions(listDocument(world, decision, readSupervisor(paths)?.pid ?? null).agents),
  ];
}

async function machineChecks(
  paths: NetworkPaths,
  tried: Tried,
  place: ServicePlace,
  { env, home }: Context,
): Promise<Check[]> {
  const user = userName();
  const logind = hasLogind();
  const sessions = "look" in tried ? tried.look.world.sessions : [];
  const hosts = sessions.filter(({ processAlive }) => processAlive).map(({ pid }) => whereaboutsOf(pid ?? 0));
  const agents = "look" in tried ? tried.look.decision.agents.length : 0;
  const logout = {
    logind,
    user,
    lingering: readLingering(user),
    killsUserProcesses: logind ? await readKillsUserProcesses(user, env) : null,
    service: readInstalled(place).installed !== null,
    hosts,
  };
  const launched = sessions.flatMap(({ ledger }) => (ledger == null ? [] : Date.parse(ledger.launchedAt)));
  return [
    checkWatches(readWatches(), countFolders(paths.catalog), agents),
    checkLingering(logout),
    checkLogout(logout),
    checkClock({
      nowMs: Date.now(),
      newestMs: launched.length === 0 ? null : Math.max(...launched),
      synchronized: await readSynchronized(env),
    }),
    checkDisk([readDisk(paths.root), ...(paths.root.startsWith(`${home}/`) ? [] : [readDisk(home)])]),
  ];
}

async function programChecks(tried: Tried, place: ServicePlace, context: Context): Promise<Check[]> {
  const file = readText(place.environmentFile);
  const { installed } = readInstalled(place);
  const inFile = file.state === "read" ? namesSetIn(file.text) : [];
  // What the environment file makes of PATH, only a shell could tell.
  const servicePath = inFile.includes("PATH") ? null : (installed?.environment.PATH ?? null);
  const credentials = Object.fromEntries(inFile.map((name) => [name, "set"]));
  return [
    ...(await checkPrograms("look" in tried ? tried.look : null, servicePath, context)),
    checkCredentials(credentialNames(context.env), credentialNames(credentials)),
  ];
}

async function serviceCheck(place: ServicePlace, flag: string, context: Context): Promise<Check> {
  if (readInstalled(place).file === "missing") return checkService(place.unit, null);
  // Lingering is a check of its own.
  const facts = { ...(await gatherFacts(place, null, context)), lingering: null };
  return checkService(place.unit, judgeService(facts, flag));
}

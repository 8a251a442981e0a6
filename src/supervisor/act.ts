/** Carries a decision out: what is owed first (deaths, parks, heals), then teardowns, trust, launches. */
import { ConvoyError, messageOf } from "../errors.ts";
import type { TrustFileReport } from "../events.ts";
import type { LaunchOutcome, Outcomes } from "../settle.ts";
import { deathEvent, flappingEvent } from "../settle.ts";
import type { Decision, TeardownAction, World } from "../world.ts";
import { launchAll, type Stopping } from "./launch.ts";
import { isUnder } from "./observe.ts";
import type { PassPorts, PassSettings } from "./ports.ts";
import { renderAll } from "./render.ts";
import { type Said, sayTrust } from "./said.ts";
import { type Say, sayer } from "./say.ts";
import { trustRequests } from "./trust-batch.ts";

export async function act(
  ports: PassPorts,
  settings: PassSettings,
  world: World,
  decision: Decision,
  said: Said,
  stopping: Stopping,
): Promise<Outcomes> {
  const say = sayer(ports);
  await updateLedgers(ports, decision);
  await retag(ports, decision, say);
  await tellDeaths(ports, decision, said, say);
  await park(ports, decision, say);
  for (const session of decision.nudges) await ports.launcher.nudge(session);
  const torn = await tearDown(ports, settings, decision.teardowns, say);
  const created = createWorkspaces(ports, settings, decision);
  renderAll(
    ports,
    settings,
    decision.launches.filter(({ spec }) => !created.has(spec.name)),
    say,
  );
  const trust = await writeTrust(ports, settings, world);
  sayTrust(trust, said, say);
  const launchable = decision.launches.filter((action) => !created.has(action.spec.name));
  const failed = decision.launches
    .filter((action) => created.has(action.spec.name))
    .map((action) => ({
      action,
      outcome: { result: "failed", error: created.get(action.spec.name) ?? "" } satisfies LaunchOutcome,
    }));
  const launches = await launchAll(ports, settings, launchable, failed, stopping);
  return { launches, tornDown: torn.stopped, teardownFailed: torn.failed, trust };
}

async function updateLedgers({ registry }: PassPorts, { updates }: Decision): Promise<void> {
  for (const { session, change } of updates)
    await registry.changeLedger(session, (ledger) => ledger && { ...ledger, ...change });
}

/** A writer that is at it all the time is outlasted by the next pass: what is decided does not hang on it. */
async function retag({ registry }: PassPorts, { retags }: Decision, say: Say): Promise<void> {
  for (const session of retags) {
    try {
      await registry.patchTags(session, {}, []);
    } catch (error) {
      if (!(error instanceof ConvoyError)) throw error;
      say({ type: "warning", message: `tags of ${session} are not put back yet: ${error.message}` });
    }
  }
}

/** Said, then marked as said: a crash in between says it twice rather than never. */
async function tellDeaths(
  { registry }: PassPorts,
  { deaths }: Decision,
  said: Said,
  say: Say,
): Promise<void> {
  for (const death of deaths) {
    const { name, ledger, createdAt } = death.session;
    const run = ledger?.launchId ?? createdAt ?? null;
    if (run === null || said.deaths.get(name) !== run) say(deathEvent(death));
    if (run !== null) said.deaths.set(name, run);
    await registry.changeLedger(
      name,
      (found) => found && { ...found, reportedEnd: ledger?.launchId ?? null },
    );
  }
}

async function park({ registry, events, clock }: PassPorts, { parks }: Decision, say: Say): Promise<void> {
  for (const action of parks) {
    await registry.patchTags(action.session, action.set, action.remove);
    const event = flappingEvent(action);
    say(event);
    const { counter, limit, windowSeconds: window } = action;
    events.appendToSession(action.session, {
      session: action.session,
      type: "session_flapping",
      ts: clock.now().toISOString(),
      counter,
      limit,
      window,
    });
  }
}

async function tearDown(
  { registry, ender }: PassPorts,
  settings: PassSettings,
  teardowns: readonly TeardownAction[],
  say: Say,
): Promise<{ stopped: number; failed: number }> {
  const sessions = teardowns.flatMap((action) => action.sessions);
  if (sessions.length === 0) return { stopped: 0, failed: 0 };
  for (const { name } of sessions)
    await registry.changeLedger(name, (ledger) => ledger && { ...ledger, endedBy: "retire" });
  const reports = await ender.end(sessions, settings.graceMs);
  const owners = new Map(teardowns.flatMap((action) => action.sessions.map((s) => [s.name, action])));
  let failed = 0;
  for (const { session, result, survivors } of reports) {
    if (result === "survived" || result === "unknown") failed += 1;
    const owner = owners.get(session);
    const about = { identity: owner?.identity ?? "", busId: owner?.busId ?? "", session };
    say({ type: "retire", ...about, result });
    if (survivors.length > 0)
      say({ type: "survivor", ...about, pids: survivors.map((survivor) => survivor.pid) });
  }
  return { stopped: reports.length - failed, failed };
}

/** Workspaces under `worktrees/` come into being here, before they are trusted; returns the failures by session. */
function createWorkspaces(
  { facts }: PassPorts,
  settings: PassSettings,
  { launches }: Decision,
): Map<string, string> {
  const failures = new Map<string, string>();
  for (const { spec } of launches) {
    if (facts.isDirectory(spec.cwd) || !isUnder(spec.cwd, settings.network.worktrees)) continue;
    try {
      facts.createWorkspace(spec.cwd);
    } catch (error) {
      failures.set(spec.name, `workspace ${spec.cwd} cannot be created: ${messageOf(error)}`);
    }
  }
  return failures;
}

/** Best effort (SUP-R17): a problem is said, and the agents start. */
async function writeTrust(
  { trust, facts }: PassPorts,
  settings: PassSettings,
  world: World,
): Promise<TrustFileReport[]> {
  return await trust.pretrust(trustRequests(world, settings, facts), { dryRun: false });
}

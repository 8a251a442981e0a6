/**
 * The one operation that ends sessions (SUP-R14): holds first, waits out launches under way, then ends and looks.
 * Works beside a running supervisor, which respects the holds.
 */
import { type DownPlan, type DownTarget, planDown } from "../down-plan.ts";
import { busIdAccessor } from "../sessions-of.ts";
import type { World } from "../world.ts";
import { observe } from "./observe.ts";
import type { EndReport, PassPorts, PassSettings } from "./ports.ts";

export interface DownPorts extends PassPorts {
  /** Waits until no launch of this session is under way, and runs `body` before the next can begin. */
  withLaunchLock<T>(name: string, body: () => Promise<T>): Promise<T>;
  /** Removes socket and pid file of a session that is provably dead. */
  clearStale(name: string): Promise<void>;
}

export interface DownRequest {
  /** Bus ids; null means every agent of this host. */
  readonly only: ReadonlySet<string> | null;
  /** For a person, in the holds. */
  readonly by: string;
  /** Sessions that stay for the caller to see to: the one it is typed in. */
  readonly spare: ReadonlySet<string>;
}

export interface DownReport {
  readonly plan: DownPlan;
  readonly reports: ReadonlyMap<string, EndReport>;
}

/**
 * What `down` would do in this world. A dead session whose last run left processes behind is among the targets: an
 * interrupted `down` is finished by the next.
 */
export async function downPlanOf(
  ports: Pick<PassPorts, "ender">,
  world: World,
  only: DownRequest["only"],
): Promise<DownPlan> {
  const plan = planDown(world, busIdAccessor(world.inForce, world.host), only);
  if (plan.dead.length === 0) return plan;
  const left = await ports.ender.findLeftovers(
    plan.dead.map(({ session }) => ({ name: session.name, session })),
  );
  const leaving = plan.dead.filter(({ session }) => left.has(session.name));
  const dead = plan.dead.filter(({ session }) => !left.has(session.name));
  return { ...plan, targets: [...plan.targets, ...leaving], dead };
}

/** Ends what was asked for, as it is found once it is held. `first` is the plan that a look before that gave. */
export async function down(
  ports: DownPorts,
  settings: PassSettings,
  request: DownRequest,
  first: DownPlan,
): Promise<DownReport> {
  await hold(ports, first.held, request.by);
  await Promise.all(first.names.map((name) => ports.withLaunchLock(name, async () => {})));
  const plan = await downPlanOf(ports, await observe(ports, settings, "event"), request.only);
  const ending = plan.targets.filter(({ session }) => !request.spare.has(session.name));
  await Promise.all(plan.targets.map(({ session }) => markEnded(ports, session.name)));
  const reports = await ports.ender.end(
    ending.map(({ session }) => session),
    settings.graceMs,
  );
  const byName = new Map(reports.map((report) => [report.session, report]));
  await Promise.all(plan.dead.map(({ session }) => ports.clearStale(session.name)));
  tell(ports, ending, byName);
  return { plan, reports: byName };
}

async function hold({ registry, clock }: DownPorts, busIds: readonly string[], by: string): Promise<void> {
  if (busIds.length === 0) return;
  const at = clock.now().toISOString();
  await registry.changeHolds((holds) => {
    for (const busId of busIds) holds[busId] ??= { at, by };
  });
}

/** Before the signal: an end that was asked for is no failure, even when nobody sees how it came. */
async function markEnded({ registry }: DownPorts, name: string): Promise<void> {
  await registry.changeLedger(name, (ledger) => ledger && { ...ledger, endedBy: "down" });
}

function tell(
  { events, clock }: DownPorts,
  ending: readonly DownTarget[],
  reports: ReadonlyMap<string, EndReport>,
) {
  for (const { identity, busId, session } of ending) {
    const report = reports.get(session.name);
    if (report === undefined) continue;
    const ts = clock.now().toISOString();
    const about = { identity, busId, session: session.name };
    events.emit({ ts, type: "down", ...about, result: report.result, pid: report.pid });
    const pids = report.survivors.map(({ pid }) => pid);
    if (pids.length > 0) events.emit({ ts, type: "survivor", ...about, pids });
  }
}

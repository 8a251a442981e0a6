/** `convoy service`: installs, removes, shows or prints the service that supervises one network. */
import process from "node:process";
import { credentialNames } from "../credentials.ts";
import { ConvoyError } from "../errors.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { carryOut } from "../service/carry-out.ts";
import type { ServiceManager, SupervisionOptions } from "../service.ts";
import { judgeService, type ServiceFacts, type ServiceRun } from "../service-status.ts";
import { installSteps, type ServiceStep, uninstallSteps } from "../service-steps.ts";
import { networkPaths } from "../system/paths.ts";
import type { CommandContext } from "./command.ts";
import { networkFlag, requireNetwork } from "./network.ts";
import {
  formatService,
  gatherFacts,
  lookAtService,
  placeOf,
  type ServicePlace,
  serviceOf,
  usualManager,
} from "./service-facts.ts";
import { formatStep, printStatus, printSteps, statusDocument } from "./service-output.ts";

export interface ServiceOptions {
  readonly action: "install" | "uninstall" | "status" | "print";
  readonly linger: boolean;
  readonly dryRun: boolean;
  readonly manager: ServiceManager | null;
  readonly supervision: SupervisionOptions;
}

type Context = Omit<CommandContext, "args">;

const START_WAIT_MS = 20_000;
const POLL_MS = 50;

/** Resolves to the exit code. */
export async function runService(options: ServiceOptions, context: Context): Promise<number> {
  refuseMisplaced(options);
  const network = context.network();
  const place = placeOf(network.root, options.manager ?? usualManager(), context);
  const flag = networkFlag(network);
  switch (options.action) {
    case "print":
      requireNetwork(network);
      context.output.raw(formatService(place, serviceOf(place, options.supervision, context)));
      return 0;
    case "status":
      return await status(place, flag, context);
    case "install":
      requireNetwork(network);
      return await install(place, flag, options, context);
    case "uninstall":
      return await uninstall(place, flag, options, context);
  }
}

/** A flag that another action has is a mistake, not to be passed over. */
function refuseMisplaced({ action, linger, dryRun, manager, supervision }: ServiceOptions): void {
  const writes = action === "install" || action === "print";
  const misplaced: [boolean, string][] = [
    [manager !== null && action !== "print", "--manager"],
    [!linger && action !== "install", "--no-linger"],
    [dryRun && action !== "install" && action !== "uninstall", "--dry-run"],
    [
      !writes && Object.values(supervision).some((value) => value !== null),
      "--interval, --fast-fail-… or --on-event",
    ],
  ];
  const found = misplaced.find(([wrong]) => wrong);
  if (found !== undefined)
    throw new ConvoyError("usage", `service ${action}: ${found[1]} is not for it`, "convoy service --help");
}

async function status(place: ServicePlace, flag: string, context: Context): Promise<number> {
  const facts = await gatherFacts(place, null, context);
  const problems = judgeService(facts, flag);
  if (context.json) context.output.document(statusDocument(place, facts, problems));
  else printStatus(place, facts, problems, context.output);
  return problems.some(({ severity }) => severity === "error") ? 1 : 0;
}

async function install(
  place: ServicePlace,
  flag: string,
  { linger, dryRun, supervision }: ServiceOptions,
  context: Context,
): Promise<number> {
  const { output, env } = context;
  const text = formatService(place, serviceOf(place, supervision, context));
  const facts = await gatherFacts(place, text, context);
  if (facts.file === "foreign" || facts.file === "unreadable")
    throw new ConvoyError(
      "failed",
      `${place.path} was not written by convoy`,
      `move it away, then convoy service install${flag}`,
    );
  const steps = installSteps(facts, { text, linger, uid: uid() }, requireRun(facts));
  if (dryRun) return showDry(steps, context);
  const problems = await carry(steps, place, context);
  if (!(await untilItSupervises(place, context)))
    throw new ConvoyError("failed", `${place.unit} does not come up`, place.logCommand);
  const after = await gatherFacts(place, text, context);
  // What was asked not to be done is no failure.
  const judged = judgeService(linger ? after : { ...after, lingering: null }, flag);
  if (context.json) output.document({ ...statusDocument(place, after, judged), steps: steps.map(shownStep) });
  else {
    printSteps(steps, output);
    printStatus(place, after, judged, output);
    for (const problem of problems) output.warn(problem);
    noteCredentials(place, env, output);
  }
  return judged.some(({ severity }) => severity === "error") ? 1 : 0;
}

function noteCredentials(place: ServicePlace, env: Context["env"], output: Context["output"]): void {
  const names = credentialNames(env);
  if (names.length === 0) return;
  output.note(`Set here and not handed to the service: ${names.join(", ")}.`);
  output.note(`What its agents need belongs in ${place.environmentFile}, as lines NAME=value (chmod 600).`);
}

async function uninstall(
  place: ServicePlace,
  flag: string,
  { dryRun }: ServiceOptions,
  context: Context,
): Promise<number> {
  const { output } = context;
  const facts = await gatherFacts(place, null, context);
  if (facts.file === "foreign")
    throw new ConvoyError("failed", `${place.path} was not written by convoy`, "remove it by hand");
  const run = facts.file === "missing" && "problem" in facts.run ? null : requireRun(facts);
  const steps = run === null ? [] : uninstallSteps(facts, uid(), run);
  if (dryRun) return showDry(steps, context);
  await carry(steps, place, context);
  if (context.json)
    output.document({
      type: "service",
      network: place.network,
      unit: place.unit,
      steps: steps.map(shownStep),
    });
  else {
    printSteps(steps, output);
    if (steps.length === 0) output.note(`There is no service for ${place.network}.`);
    else output.note(`Its agents run on, and nobody supervises them: convoy up${flag}`);
  }
  return 0;
}

function requireRun({ run, user }: ServiceFacts): ServiceRun {
  if (!("problem" in run)) return run;
  throw new ConvoyError(
    "failed",
    run.problem,
    `loginctl enable-linger ${user}, or without a service: convoy up --detach`,
  );
}

function carry(steps: readonly ServiceStep[], place: ServicePlace, context: Context): Promise<string[]> {
  const progress = context.output.progress(place.unit);
  return carryOut(steps, {
    env: context.env,
    look: () => lookAtService(place, context),
    onStep: (step) => progress.update(formatStep(step)),
  }).finally(() => progress.stop());
}

function showDry(steps: readonly ServiceStep[], { json, output }: Context): number {
  if (json) output.document({ type: "service", dryRun: true, steps: steps.map(shownStep) });
  else if (steps.length === 0) output.note("Nothing to do.");
  else printSteps(steps, output);
  return 0;
}

/** Whether it supervises, or waits beside another supervisor. */
async function untilItSupervises(place: ServicePlace, context: Context): Promise<boolean> {
  const deadline = performance.now() + START_WAIT_MS;
  while (true) {
    const run = await lookAtService(place, context);
    const holder = readSupervisor(networkPaths(place.network));
    if (!("problem" in run) && run.state === "active" && holder !== null) return true;
    if (performance.now() > deadline) return false;
    await Bun.sleep(POLL_MS);
  }
}

/** A step without the whole text that it writes. */
function shownStep(step: ServiceStep) {
  return step.kind === "write" ? { kind: step.kind, path: step.path } : step;
}

function uid(): number {
  return process.getuid?.() ?? 0;
}

/** What is wrong with a network's service, from all facts together, and what to type about each. */
import type { ServiceManager } from "./service.ts";

/** A service as its manager tells of it. */
export interface ServiceRun {
  /** Whether the manager knows it at all. */
  readonly loaded: boolean;
  /** Whether its file has changed since the manager read it. */
  readonly stale: boolean;
  /** Whether it is started with the manager; null where the manager does not say. */
  readonly enabled: boolean | null;
  readonly state: "active" | "starting" | "failed" | "inactive";
  readonly pid: number | null;
  /** Of its last end, or of the last try; null when there was none. */
  readonly exitCode: number | null;
  /** Whether a stop leaves the agents running; null where the manager does not say. */
  readonly spares: boolean | null;
}

export interface ServiceFacts {
  readonly manager: ServiceManager;
  /** As the manager calls it: `convoy-default.service`, `convoy-default`. */
  readonly unit: string;
  /** The file that describes it to its manager. */
  readonly path: string;
  /**
   * `current`: just as this convoy would write it again. `differs`: convoy wrote it, and it reads otherwise. `foreign`:
   * somebody else's file.
   */
  readonly file: "missing" | "current" | "differs" | "foreign" | "unreadable";
  /** Which program it names; null when that cannot be read. */
  readonly binary: string | null;
  readonly binaryState: "this" | "other" | "gone" | null;
  readonly run: ServiceRun | { readonly problem: string };
  /** Who supervises the network, however it was started. */
  readonly supervisor: { readonly pid: number; readonly version: string } | null;
  /** Whether the manager outlives the last logout; null where it cannot be told, or there is no such thing. */
  readonly lingering: boolean | null;
  readonly user: string;
  /** Of the convoy that asks. */
  readonly version: string;
  /** What shows the service's log. */
  readonly logCommand: string;
}

export interface ServiceProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  /** The command to type. */
  readonly next: string;
}

const INSTALL = "convoy service install";

/** Nothing when the service is installed as it should be, and supervises. `networkFlag` goes behind convoy's commands. */
export function judgeService(facts: ServiceFacts, networkFlag: string): ServiceProblem[] {
  const install = `${INSTALL}${networkFlag}`;
  if (facts.file === "missing") return [error("it is not installed", install)];
  if (facts.file === "foreign")
    return [error(`${facts.path} was not written by convoy`, `move it away, then ${install}`)];
  if (facts.file === "unreadable")
    return [error(`${facts.path} cannot be read`, `move it away, then ${install}`)];
  return [
    ...judgeFile(facts, install),
    ...("problem" in facts.run
      ? [error(facts.run.problem, lingerCommand(facts))]
      : judgeRun(facts, facts.run, install)),
    ...judgeLingering(facts),
  ];
}

function judgeFile(facts: ServiceFacts, install: string): ServiceProblem[] {
  const problems: ServiceProblem[] = [];
  if (facts.file === "differs")
    problems.push(warning(`${facts.path} is not as this convoy writes it`, install));
  if (facts.binaryState === "gone") problems.push(error(`it starts ${facts.binary}, which is gone`, install));
  if (facts.binaryState === "other")
    problems.push(warning(`it starts ${facts.binary}, which is not this program`, install));
  return problems;
}

function judgeRun(facts: ServiceFacts, run: ServiceRun, install: string): ServiceProblem[] {
  const problems: ServiceProblem[] = [];
  if (!run.loaded) return [error("its manager has not read it", install)];
  if (run.spares === false)
    problems.push(error("a stop of it would end every agent: its KillMode is not process", revertOf(facts)));
  if (run.stale) problems.push(error("its manager has not read its file again", install));
  if (run.enabled === false) problems.push(error("it is not started by itself", install));
  return [...problems, ...judgeState(facts, run, install)];
}

function revertOf({ unit }: ServiceFacts): string {
  return `systemctl --user revert ${unit}`;
}

function judgeState(facts: ServiceFacts, run: ServiceRun, install: string): ServiceProblem[] {
  const code = run.exitCode === null ? "" : `, last exit code ${run.exitCode}`;
  switch (run.state) {
    case "inactive":
      return [error("it is stopped", install)];
    case "failed":
      return [error(`it has failed${code}`, facts.logCommand)];
    case "starting":
      return [error(`it is being started again${code}`, facts.logCommand)];
    case "active":
      return judgeSupervisor(facts, run, install);
  }
}

function judgeSupervisor(
  { supervisor, version }: ServiceFacts,
  { pid }: ServiceRun,
  install: string,
): ServiceProblem[] {
  if (supervisor === null)
    return [error("it runs, and does not supervise yet", install.replace("service install", "ls"))];
  if (supervisor.pid !== pid)
    return [
      warning(
        `it waits for another supervisor, pid ${supervisor.pid}, to end (its agents live on)`,
        `kill ${supervisor.pid}`,
      ),
    ];
  if (supervisor.version === version) return [];
  return [warning(`version ${supervisor.version} runs, this is ${version}`, install)];
}

function judgeLingering({ lingering, user }: ServiceFacts): ServiceProblem[] {
  if (lingering !== false) return [];
  return [
    error(
      `it ends with your last logout, and every agent that it started with it: ${user} does not linger`,
      lingerCommand({ user }),
    ),
  ];
}

/** It also starts the user's manager, where none runs. */
function lingerCommand({ user }: Pick<ServiceFacts, "user">): string {
  return `loginctl enable-linger ${user}`;
}

function error(message: string, next: string): ServiceProblem {
  return { severity: "error", message, next };
}

function warning(message: string, next: string): ServiceProblem {
  return { severity: "warning", message, next };
}

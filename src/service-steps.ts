/** What `convoy service install` and `uninstall` do, step by step: worked out first, so that it can be shown undone. */
import type { ServiceFacts, ServiceRun } from "./service-status.ts";

export type ServiceStep =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "remove"; readonly path: string }
  /** Asks the manager, and goes no further where a stop would end agents. */
  | { readonly kind: "check-spares" }
  /** `tries`: how often, a second apart, before its failure counts. */
  | {
      readonly kind: "run";
      readonly words: readonly string[];
      readonly tries?: number;
      readonly optional?: true;
    };

export interface Wanted {
  readonly text: string;
  /** Whether to ask for lingering, too. */
  readonly linger: boolean;
  /** Of the person. */
  readonly uid: number;
}

/** `file` of `facts` is `current` only where the text on the disk is `text`. */
export function installSteps(facts: ServiceFacts, wanted: Wanted, run: ServiceRun): ServiceStep[] {
  return facts.manager === "systemd" ? installUnit(facts, wanted, run) : installAgent(facts, wanted, run);
}

export function uninstallSteps(facts: ServiceFacts, uid: number, run: ServiceRun): ServiceStep[] {
  return facts.manager === "systemd" ? uninstallUnit(facts, run) : uninstallAgent(facts, uid, run);
}

function installUnit(facts: ServiceFacts, { text, linger }: Wanted, run: ServiceRun): ServiceStep[] {
  const steps: ServiceStep[] = [];
  const rewritten = facts.file !== "current" || run.stale;
  if (facts.file !== "current") steps.push({ kind: "write", path: facts.path, text });
  if (rewritten || !run.loaded) steps.push(systemctl("daemon-reload"));
  if (rewritten || run.enabled !== true) steps.push(systemctl("enable", facts.unit));
  if (run.state === "starting" || (run.state === "active" && (rewritten || isOutdated(facts, run))))
    steps.push({ kind: "check-spares" }, systemctl("restart", facts.unit));
  else if (run.state !== "active") steps.push(systemctl("start", facts.unit));
  if (linger && facts.lingering === false)
    steps.push({ kind: "run", words: ["loginctl", "enable-linger", facts.user], optional: true });
  return steps;
}

function isOutdated({ supervisor, version }: ServiceFacts, run: ServiceRun): boolean {
  return supervisor !== null && supervisor.pid === run.pid && supervisor.version !== version;
}

function uninstallUnit(facts: ServiceFacts, run: ServiceRun): ServiceStep[] {
  const steps: ServiceStep[] = [];
  if (run.state !== "inactive") steps.push({ kind: "check-spares" });
  if (facts.file !== "missing") {
    steps.push(systemctl("disable", "--now", facts.unit));
    steps.push({ kind: "remove", path: facts.path }, systemctl("daemon-reload"));
  } else {
    if (run.state !== "inactive") steps.push(systemctl("stop", facts.unit));
    if (run.loaded) steps.push(systemctl("daemon-reload"));
  }
  return steps;
}

function installAgent(facts: ServiceFacts, { text, uid }: Wanted, run: ServiceRun): ServiceStep[] {
  const steps: ServiceStep[] = [];
  const target = `gui/${uid}/${facts.unit}`;
  const rewritten = facts.file !== "current";
  if (rewritten) steps.push({ kind: "write", path: facts.path, text });
  if (run.loaded && rewritten) steps.push(launchctl("bootout", target));
  if (!run.loaded || rewritten) {
    // What was booted out is still on its way for a moment, and cannot be loaded meanwhile.
    const bootstrap = launchctl("bootstrap", `gui/${uid}`, facts.path);
    steps.push(launchctl("enable", target), { ...bootstrap, tries: 10 });
  } else if (run.state !== "active" || isOutdated(facts, run))
    steps.push(launchctl("kickstart", "-k", target));
  return steps;
}

function uninstallAgent(facts: ServiceFacts, uid: number, run: ServiceRun): ServiceStep[] {
  const steps: ServiceStep[] = [];
  if (run.loaded) steps.push(launchctl("bootout", `gui/${uid}/${facts.unit}`));
  if (facts.file !== "missing") steps.push({ kind: "remove", path: facts.path });
  return steps;
}

function systemctl(...words: string[]) {
  return { kind: "run" as const, words: ["systemctl", "--user", ...words] };
}

function launchctl(...words: string[]) {
  return { kind: "run" as const, words: ["launchctl", ...words] };
}

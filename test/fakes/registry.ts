/** A registry in memory, held to the same contract as the one on disk (test/contract/registry-contract.ts). */
import { ConvoyError } from "../../src/errors.ts";
import type { Ledger } from "../../src/ledger.ts";
import { observeSession } from "../../src/liveness.ts";
import type { Identification, ObservedSession, ProcessIdentity, SessionRecord } from "../../src/session.ts";
import type { Found } from "../../src/session-facts.ts";
import type { Hold, RegistryPort, RegistryReading } from "../../src/supervisor/ports.ts";

export const FAKE_BOOT = "fake-boot";

export class FakeRegistry implements RegistryPort {
  readonly records = new Map<string, SessionRecord | "torn">();
  readonly ledgers = new Map<string, Ledger | "torn">();
  holds: Record<string, Hold> | "torn" = {};
  /** What the process table says of a pid; a process that is not named here is gone. */
  readonly processes = new Map<number, Identification>();
  /** Every change, in order, for tests that look at what a pass did. */
  readonly writes: string[] = [];

  async read(): Promise<RegistryReading> {
    const names = [...new Set([...this.records.keys(), ...this.ledgers.keys()])].sort();
    const problems = [...this.records]
      .filter(([, record]) => record === "torn")
      .map(([name]) => ({ file: `${name}.json`, message: "is torn" }));
    const sessions = names.map((name) => this.observe(name)).filter((session) => session !== null);
    return structuredClone({ sessions, problems });
  }

  /** By name, what runs though no file tells of it. */
  readonly unlisted = new Map<string, ObservedSession>();

  async readUnlisted(names: readonly string[]): Promise<readonly ObservedSession[]> {
    return names.flatMap((name) => this.unlisted.get(name) ?? []);
  }

  async readHolds(): Promise<Readonly<Record<string, Hold>>> {
    return structuredClone(this.usableHolds());
  }

  async changeHolds(change: (holds: Record<string, Hold>) => void): Promise<void> {
    const holds = structuredClone(this.usableHolds());
    change(holds);
    if (JSON.stringify(holds) === JSON.stringify(this.holds)) return;
    this.holds = holds;
    this.writes.push("holds");
  }

  async changeLedger(name: string, change: (ledger: Ledger | null) => Ledger | null): Promise<void> {
    const found = this.ledgers.get(name);
    const next = change(found === undefined || found === "torn" ? null : structuredClone(found));
    if (next === null) return;
    this.ledgers.set(name, structuredClone(next));
    this.writes.push(`ledger ${name}`);
  }

  async patchTags(
    name: string,
    set: Readonly<Record<string, string>>,
    remove: readonly string[],
  ): Promise<void> {
    const record = this.records.get(name);
    const ledger = this.ledgers.get(name);
    const patch = (tags: Readonly<Record<string, string>>) => {
      const kept = Object.entries({ ...tags, ...set }).filter(([key]) => key in set || !remove.includes(key));
      return Object.fromEntries(kept);
    };
    const hasRecord = record !== undefined && record !== "torn";
    const hasLedger = ledger !== undefined && ledger !== "torn";
    if (!hasRecord && !hasLedger)
      throw new ConvoyError("failed", `session ${name} has neither a record nor a ledger`);
    if (hasRecord) this.records.set(name, { ...record, tags: patch(record.tags ?? {}) });
    if (hasLedger) this.ledgers.set(name, { ...ledger, tags: patch(ledger.tags) });
    this.writes.push(`tags ${name}`);
  }

  private usableHolds(): Record<string, Hold> {
    if (this.holds === "torn") throw new ConvoyError("failed", "nobody can tell which agents are held");
    return this.holds;
  }

  private observe(name: string): ObservedSession | null {
    const record = found(this.records.get(name));
    const ledger = found(this.ledgers.get(name));
    if (ledger.state === "missing" && record.state !== "read") return null;
    const known = ledger.state === "read" ? ledger.value : null;
    const hostPid = known?.host?.pid ?? null;
    return observeSession({
      name,
      record,
      ledger,
      pidFile: hostPid === null ? { state: "missing" } : { state: "read", value: hostPid },
      socketFile: true,
      socketReplaced: false,
      socket: { state: "not-probed" },
      host: this.identify(known?.host ?? null),
      child: this.identify(known?.child ?? null),
      sameBoot: known === null || known.boot === FAKE_BOOT,
      namedHost: "none",
      strays: { state: "searched", host: null, child: null, ptyHost: null, ptyChildPid: null },
      launching: false,
      lostTags: { set: {}, remove: [] },
      agent: known?.agent ?? (record.state === "read" ? (record.value.tags?.["convoy.agent"] ?? null) : null),
    });
  }

  private identify(process: ProcessIdentity | null): Identification | null {
    return process === null ? null : (this.processes.get(process.pid) ?? "not-ours");
  }
}

function found<T>(value: T | "torn" | undefined): Found<T> {
  if (value === undefined) return { state: "missing" };
  return value === "torn" ? { state: "unusable" } : { state: "read", value };
}

/** The ports of a pass without a disk, a process or a clock: what happens is decided by the test. */
import type { CatalogReading } from "../../src/catalog-reading.ts";
import type { Declaration } from "../../src/declaration.ts";
import type { ConvoyEvent } from "../../src/events.ts";
import { type LaunchRequest, nextLedger } from "../../src/next-ledger.ts";
import type { LaunchResult, PassPorts } from "../../src/supervisor/ports.ts";
import { networkPaths } from "../../src/system/paths.ts";
import { FAKE_BOOT, FakeRegistry } from "./registry.ts";

const START = Date.parse("2026-11-30T10:00:00.000Z");

export class FakeWorld {
  readonly registry = new FakeRegistry();
  readonly events: ConvoyEvent[] = [];
  /** Everything that was done, in order. */
  readonly acts: string[] = [];
  /** Session ids whose launch fails, and why. */
  readonly failing = new Map<string, string>();
  /** Session ids with living leftovers of the last run. */
  readonly leftovers = new Map<string, number[]>();
  /** Leftovers that survive being ended. */
  unkillable = false;
  readonly folders = new Set<string>();
  declarations: Declaration[] = [];
  nowMs = START;
  private pid = 1_000;

  ports(): PassPorts {
    return {
      boot: FAKE_BOOT,
      clock: { now: () => new Date(this.nowMs), sleep: async () => {} },
      catalog: { read: async () => this.catalog(), locate: async () => 1 },
      registry: this.registry,
      launcher: {
        launch: (request) => this.launch(request),
        nudge: async (session) => {
          this.acts.push(`nudge ${session.name}`);
        },
      },
      events: { emit: (event) => this.events.push(event), appendToSession: () => {} },
      facts: {
        isDirectory: (path) => this.folders.has(path),
        isExecutable: (name) => name !== "st",
        createWorkspace: (path) => {
          this.acts.push(`mkdir ${path}`);
          this.folders.add(path);
        },
      },
      trust: {
        pretrust: async (requests) => {
          this.acts.push(`trust ${requests.map(({ workspace }) => workspace).join(" ")}`);
          return [];
        },
      },
      ender: {
        end: async (sessions) => {
          this.acts.push(`end ${sessions.map(({ name }) => name).join(" ")}`);
          return sessions.map(({ name, childPid }) => this.ended(name, childPid ?? null));
        },
        findLeftovers: async () => new Map(this.leftovers),
      },
    };
  }

  settings() {
    return {
      network: networkPaths("/n"),
      host: "box",
      home: "/h",
      version: "0",
      baseEnv: { PATH: "/bin", HOME: "/h" },
      graceMs: 0,
      parallel: 2,
    };
  }

  /** The agent's process ends by itself, with an exit record. */
  die(name: string, exitCode: number): void {
    const ledger = this.registry.ledgers.get(name);
    if (ledger === undefined || ledger === "torn") throw new Error(`${name} has no ledger`);
    for (const process of [ledger.host, ledger.child]) this.registry.processes.delete(process?.pid ?? 0);
    const end = { exitCode, exitedAt: new Date(this.nowMs).toISOString(), lastLines: ["bye"], error: null };
    this.registry.ledgers.set(name, { ...ledger, end });
    const record = this.registry.records.get(name);
    if (record !== undefined && record !== "torn")
      this.registry.records.set(name, { ...record, exitCode, exitedAt: end.exitedAt });
  }

  typesSince(count: number): string[] {
    return this.events.slice(count).map((event) => event.type);
  }

  private catalog(): CatalogReading {
    const files = this.declarations.map((declaration) => {
      const path = `${declaration.identity}.toml`;
      const claimedIdentity = declaration.identity;
      return { path, claimedIdentity, entry: { declaration, path }, hostWritten: true, parsed: true };
    });
    return { state: "read", files, problems: [] };
  }

  private async launch(request: LaunchRequest): Promise<LaunchResult> {
    const { name } = request.spec;
    this.acts.push(`launch ${name}`);
    const error = this.failing.get(name);
    const host = { pid: ++this.pid, start: "1" };
    const child = { pid: ++this.pid, start: "1" };
    await this.registry.changeLedger(name, (before) => ({
      ...nextLedger(before, request, {
        launchId: `L${host.pid}`,
        launchedAt: new Date(this.nowMs).toISOString(),
        version: "0",
        boot: FAKE_BOOT,
      }),
      ...(error === undefined ? { host, child } : {}),
    }));
    if (error !== undefined) return { result: "failed", error };
    for (const { pid } of [host, child]) this.registry.processes.set(pid, "ours");
    const { command, args, displayCommand, cwd, tags } = { ...request.spec, tags: request.tags };
    const createdAt = new Date(this.nowMs).toISOString();
    this.registry.records.set(name, { command, args: [...args], displayCommand, cwd, createdAt, tags });
    return { result: "started", pid: child.pid, hostPid: host.pid };
  }

  private ended(name: string, pid: number | null) {
    const survivors = this.unkillable ? [{ pid: 7, name: "stuck" }] : [];
    if (survivors.length === 0) this.leftovers.delete(name);
    const ledger = this.registry.ledgers.get(name);
    if (survivors.length === 0 && ledger !== undefined && ledger !== "torn" && ledger.end === null)
      this.die(name, 143);
    return {
      session: name,
      pid,
      result: survivors.length > 0 ? ("survived" as const) : ("stopped" as const),
      survivors,
    };
  }
}

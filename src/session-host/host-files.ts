/**
 * A session's registry files, as its host keeps them: completed at the start, put back while the program runs, closed
 * with its end, and left alone once another host has taken their place.
 */
import { rmSync, statSync } from "node:fs";
import process from "node:process";
import { ConvoyError, errnoOf } from "../errors.ts";
import type { Ledger, RunEnd } from "../ledger.ts";
import { HOST_PROTOCOL } from "../ledger.ts";
import type { ProcessIdentity, SessionRecord } from "../session.ts";
import { writeFileAtomic } from "../system/atomic-write.ts";
import { effect } from "../system/effects.ts";
import { sessionPaths } from "../system/paths.ts";
import { identify, identityOf, processTable } from "../system/processes.ts";
import { readRegularFile } from "../system/regular-file.ts";
import type { SessionFiles } from "./ports.ts";

export class HostFiles {
  readonly paths: ReturnType<typeof sessionPaths>;
  private readonly name: string;
  private readonly files: SessionFiles;
  private readonly self: ProcessIdentity;
  /** As it was when this host started: what the record is restored from when the ledger cannot be read. */
  readonly ledger: Ledger;
  private recordSeen = "";
  private pidSeen = "";

  /** Reads the ledger. Throws a `ConvoyError` when there is none, or it is not this process's to run. */
  constructor(registry: string, name: string, files: SessionFiles) {
    this.paths = sessionPaths(registry, name);
    this.name = name;
    this.files = files;
    const self = identityOf(process.pid);
    if (self === null)
      throw new ConvoyError("failed", "this process cannot find itself in the process table");
    this.self = self;
    const ledger = files.readLedger(name);
    if (ledger === null)
      throw new ConvoyError("failed", `there is no ledger for session ${name} in ${registry}`);
    this.ledger = ledger;
  }

  /** Makes this process the host of the launch that it read. Throws when another has it, or it has already ended. */
  async claim(): Promise<void> {
    const refusal = await this.changeOwnLedger((ledger) => {
      const host = ledger.host;
      const other = host !== null && !(host.pid === this.self.pid && host.start === this.self.start);
      if (other && identify(host, ledger.boot) !== "not-ours") return `its host is process ${host.pid}`;
      if (ledger.end !== null || ledger.child !== null) return "that launch is over";
      return { ...ledger, host: this.self, boot: processTable.boot(), protocol: HOST_PROTOCOL };
    });
    if (refusal !== null) throw new ConvoyError("failed", `session ${this.name} is not started: ${refusal}`);
  }

  /** Notes the program's process, and the socket that was bound for it. */
  async noteChild(pid: number, socket: string | null): Promise<void> {
    const child = identityOf(pid);
    await this.changeOwnLedger((ledger) => ({ ...ledger, child: child ?? { pid, start: "" }, socket }));
  }

  /** Notes the socket that was bound in the place of one that is lost. */
  async noteSocket(socket: string | null): Promise<void> {
    await this.changeOwnLedger((ledger) => ({ ...ledger, socket }));
  }

  writePid(): void {
    writeFileAtomic(this.paths.pid, String(this.self.pid));
    effect("pid-write");
    this.pidSeen = signatureOf(this.paths.pid);
  }

  /** The record names this host, and is there: from the ledger when it is gone, torn, or one of an earlier run. */
  async completeRecord(): Promise<void> {
    await this.files.changeRecord(this.name, (record) => {
      if (record === null) return { ...this.restoredRecord(), daemonPid: this.self.pid };
      if (this.isLaterRun(record)) return null;
      if (Date.parse(record.createdAt) < Date.parse(this.ledger.launchedAt)) return this.renewed(record);
      return record.daemonPid === this.self.pid ? null : { ...record, daemonPid: this.self.pid };
    });
    this.recordSeen = signatureOf(this.paths.record);
  }

  /** Whether `.pid` still names this process. */
  ownsPid(): boolean {
    return readPid(this.paths.pid) === this.self.pid;
  }

  /** Whether the ledger, if it can be read, is still that of this host's launch. */
  ownsLedger(): boolean {
    try {
      const ledger = this.files.readLedger(this.name);
      return ledger === null || ledger.launchId === this.ledger.launchId;
    } catch (error) {
      // A torn ledger names nobody else.
      if (error instanceof ConvoyError) return true;
      throw error;
    }
  }

  /** Whether pid file and record are as this host last left or found them: two looks, nothing is read. */
  isUntouched(): { readonly pid: boolean; readonly record: boolean } {
    return {
      pid: signatureOf(this.paths.pid) === this.pidSeen,
      record: signatureOf(this.paths.record) === this.recordSeen,
    };
  }

  /** Notes that somebody attached. */
  async noteAttach(): Promise<void> {
    await this.files.changeRecord(this.name, (record) =>
      record === null ? null : { ...record, lastAttachAt: new Date().toISOString() },
    );
    this.recordSeen = signatureOf(this.paths.record);
  }

  /**
   * Writes how the run ended, into the record and then the ledger; only while they are this launch's. `terminated`:
   * another program told this host to end.
   */
  async recordEnd(end: RunEnd & { exitCode: number; exitedAt: string }, terminated: boolean): Promise<void> {
    if (!this.ownsLedger()) return;
    const { exitCode, exitedAt } = end;
    await this.files.changeRecord(this.name, (record) => {
      if (record !== null && this.isLaterRun(record)) return null;
      const own = record ?? { ...this.restoredRecord(), daemonPid: this.self.pid };
      return { ...own, exitCode, exitedAt, lastLines: [...end.lastLines] };
    });
    await this.changeOwnLedger((ledger) => ({ ...ledger, end, terminated }));
  }

  /** Writes why the launch failed. */
  async recordFailure(error: string): Promise<void> {
    const end = { exitCode: null, exitedAt: new Date().toISOString(), lastLines: [], error };
    await this.changeOwnLedger((ledger) => (ledger.end === null ? { ...ledger, end } : "it has ended"));
  }

  appendEvent(event: { readonly type: string; readonly [member: string]: unknown }): void {
    this.files.appendEvent(this.name, event);
  }

  /** Removes socket and pid file, while they are this host's. */
  removeOwn(): void {
    if (!this.ownsPid()) return;
    for (const path of [this.paths.socket, this.paths.pid]) {
      rmSync(path, { force: true });
      effect("files-remove");
    }
  }

  /** Read-change-write of this launch's ledger; a text from `change` refuses and is given back. */
  private async changeOwnLedger(change: (ledger: Ledger) => Ledger | string): Promise<string | null> {
    let refusal: string | null = null;
    await this.files.changeLedger(this.name, (ledger) => {
      const changed =
        ledger === null || ledger.launchId !== this.ledger.launchId
          ? "another launch took its place"
          : change(ledger);
      if (typeof changed !== "string") return changed;
      refusal = changed;
      return null;
    });
    return refusal;
  }

  /** Another program has started the session since, and this is what it wrote of its own run. */
  private isLaterRun({ createdAt }: SessionRecord): boolean {
    return Date.parse(createdAt) > Date.parse(this.ledger.launchedAt);
  }

  /** A record of an earlier run, as that of this one: without that one's end, with what others keep in it. */
  private renewed(record: SessionRecord): SessionRecord {
    const { exitCode: _exitCode, exitedAt: _exitedAt, lastLines: _lastLines, ...kept } = record;
    const own = this.restoredRecord();
    return { ...kept, ...own, tags: { ...record.tags, ...own.tags }, daemonPid: this.self.pid };
  }

  private restoredRecord(): SessionRecord {
    const ledger = this.readableLedger();
    return {
      command: ledger.spec.command,
      args: [...ledger.spec.args],
      displayCommand: ledger.spec.displayCommand,
      cwd: ledger.spec.cwd,
      createdAt: ledger.launchedAt,
      tags: { ...ledger.tags },
    };
  }

  private readableLedger(): Ledger {
    try {
      return this.files.readLedger(this.name) ?? this.ledger;
    } catch (error) {
      if (error instanceof ConvoyError) return this.ledger;
      throw error;
    }
  }
}

/** What changes when a file is replaced or written; "" when it is not there. */
function signatureOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

function readPid(path: string): number | null {
  try {
    const text = readRegularFile(path).text.trim();
    return /^\d+$/.test(text) ? Number(text) : null;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

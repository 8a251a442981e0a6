/** Puts a living session's registry files back: pty's program removes them from sessions that answer late. */
import type { HostFiles } from "./host-files.ts";
import type { Listener } from "./listener.ts";

/** With no supervisor watching, a lost file is back within this and the time of one look. */
export const CHECK_MS = 9_000;

export class Keeper {
  private readonly files: HostFiles;
  private readonly listener: Listener;
  private readonly report: (error: unknown) => void;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;
  private stopped = false;

  constructor(files: HostFiles, listener: Listener, report: (error: unknown) => void) {
    this.files = files;
    this.listener = listener;
    this.report = report;
  }

  /** Looks at the files at once, and puts back what is lost. */
  check(): void {
    if (this.stopped || this.running !== null || this.isWhole()) return;
    this.running = this.restore()
      .catch(this.report)
      .finally(() => {
        this.running = null;
      });
  }

  /** A supervisor that watches sees a lost file itself; only without one is there a timer. */
  setWatched(watched: boolean): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = watched || this.stopped ? null : setInterval(() => this.check(), CHECK_MS).unref();
  }

  /** Stops; resolves when nothing is being put back any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.setWatched(true);
    await this.running;
  }

  private isWhole(): boolean {
    const { pid, record } = this.files.isUntouched();
    return pid && record && this.listener.state() === "ours";
  }

  private async restore(): Promise<void> {
    if (!this.files.ownsLedger()) return;
    if (!this.files.isUntouched().pid) this.files.writePid();
    if (this.listener.state() !== "ours") await this.listener.bind();
    if (!this.stopped && !this.files.isUntouched().record) await this.files.completeRecord();
  }
}

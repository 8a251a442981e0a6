/** Puts a living session's registry files back: pty's program removes them from sessions that answer late. */
import type { HostFiles } from "./host-files.ts";
import { isLifeLineHeld, type LifeLineWatch, watchPipe } from "./life-line.ts";
import type { Listener } from "./listener.ts";

/** With no supervisor, a lost file is back within this and the time of one look. */
export const CHECK_MS = 8_000;

export class Keeper {
  private readonly files: HostFiles;
  private readonly listener: Listener;
  private readonly supervisorLine: string;
  private readonly report: (error: unknown) => void;
  private timer: NodeJS.Timeout | null = null;
  private supervisor: LifeLineWatch | null = null;
  private connected = false;
  private started = false;
  private restoring: Promise<void> | null = null;
  private stopped = false;

  /** `supervisorLine`: the pipe that a supervisor holds, which sees a lost file itself and asks for it. */
  constructor(
    files: HostFiles,
    listener: Listener,
    supervisorLine: string,
    report: (error: unknown) => void,
  ) {
    this.files = files;
    this.listener = listener;
    this.supervisorLine = supervisorLine;
    this.report = report;
  }

  /** Looks at the files, and puts back what is lost. */
  check(): void {
    if (this.stopped || this.restoring !== null || this.isUntouched()) return;
    this.restoring = this.restore()
      .catch(this.report)
      .finally(() => {
        this.restoring = null;
      });
  }

  /** Starts looking now and then, as long as no supervisor does it. */
  start(): void {
    this.started = true;
    this.look();
  }

  /** Whether a supervisor's connection stands. */
  setConnected(connected: boolean): void {
    this.connected = connected;
    this.look();
  }

  /** Stops; resolves when nothing is being put back any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.setTimer(false);
    this.supervisor?.stop();
    await this.restoring;
  }

  /** One look, and whether there will be a next: an idle host under a supervisor does nothing at all. */
  private look(): void {
    if (!this.started || this.stopped) return;
    this.check();
    if (this.supervisor === null && isLifeLineHeld(this.supervisorLine)) this.follow();
    this.setTimer(this.supervisor === null && !this.connected);
  }

  /** Waits for the supervisor's end. */
  private follow(): void {
    this.supervisor = watchPipe(this.supervisorLine);
    this.supervisor?.ended
      .then(() => {
        this.supervisor = null;
        this.look();
      })
      .catch(this.report);
  }

  private setTimer(on: boolean): void {
    if (on === (this.timer !== null)) return;
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = on ? setInterval(() => this.guardedLook(), CHECK_MS).unref() : null;
  }

  private guardedLook(): void {
    try {
      this.look();
    } catch (error) {
      this.report(error);
    }
  }

  private isUntouched(): boolean {
    const { pid, record } = this.files.isUntouched();
    return pid && record && this.listener.state() === "ours";
  }

  private async restore(): Promise<void> {
    if (!this.files.ownsLedger()) return;
    if (!this.files.isUntouched().pid) this.files.writePid();
    if (this.listener.state() !== "ours") {
      await this.listener.bind();
      await this.files.noteSocket(this.listener.bound());
    }
    if (!this.stopped && !this.files.isUntouched().record) await this.files.completeRecord();
  }
}

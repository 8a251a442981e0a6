/**
 * What a program has printed. Until somebody needs a screen this is only the raw bytes: an emulator costs some
 * megabytes and milliseconds, and most sessions are never looked at.
 */
import { plainTail } from "../plain-output.ts";
import type { Size } from "../protocol.ts";
import type { XtermScreen } from "./xterm-screen.ts";

/** Raw output beyond this is given to an emulator, whose memory is bounded by its scrollback. */
export const RAW_LIMIT_BYTES = 1024 * 1024;
const FIRST_BUFFER_BYTES = 4 * 1024;

type Action = (screen: XtermScreen) => void;

export class Screen {
  private raw = new Uint8Array(FIRST_BUFFER_BYTES);
  private rawLength = 0;
  /** What is to happen at which place of the raw output, in order. */
  private actions: { at: number; run: Action }[] = [];
  private xterm: XtermScreen | null = null;
  private loading: Promise<void> | null = null;
  private readonly initial: Size;
  private readonly onProblem: (error: unknown) => void;

  constructor(initial: Size, onProblem: (error: unknown) => void) {
    this.initial = initial;
    this.onProblem = onProblem;
  }

  /** Takes output. With an emulator it is parsed on return. */
  write(bytes: Uint8Array): void {
    if (this.xterm !== null) {
      this.xterm.write(bytes);
      return;
    }
    this.keepRaw(bytes);
    if (this.rawLength > RAW_LIMIT_BYTES) this.load();
  }

  resize(size: Size): void {
    this.atThisPoint((xterm) => xterm.resize(size));
  }

  /** Runs `action` on the screen as it stands at this point of the output: at once, or when the emulator has loaded. */
  look(action: Action): void {
    this.atThisPoint(action);
    if (this.xterm === null) this.load();
  }

  /** Runs `action` after everything that waits for the emulator: at once when nothing does. */
  inOrder(action: () => void): void {
    if (this.actions.length === 0) action();
    else this.atThisPoint(action);
  }

  /** The emulator when one is there anyway, else null. */
  ifLoaded(): XtermScreen | null {
    return this.xterm;
  }

  /** Resolves when nothing waits for the emulator any more. */
  async settled(): Promise<void> {
    await this.loading;
  }

  /** The last lines printed, by the cheapest way that is right. */
  async tail(count: number): Promise<string[]> {
    await this.loading;
    if (this.xterm === null) {
      const lines = plainTail(this.raw.subarray(0, this.rawLength), count);
      if (lines !== null) return lines;
    }
    let tail: string[] = [];
    this.look((xterm) => {
      tail = xterm.tail(count);
    });
    await this.loading;
    return tail;
  }

  private atThisPoint(action: Action): void {
    if (this.xterm !== null) action(this.xterm);
    else this.actions.push({ at: this.rawLength, run: action });
  }

  private keepRaw(bytes: Uint8Array): void {
    const needed = this.rawLength + bytes.length;
    if (needed > this.raw.length) {
      const larger = new Uint8Array(Math.max(needed, this.raw.length * 2));
      larger.set(this.raw.subarray(0, this.rawLength));
      this.raw = larger;
    }
    this.raw.set(bytes, this.rawLength);
    this.rawLength = needed;
  }

  private load(): void {
    this.loading ??= this.replayIntoXterm().catch(this.onProblem);
  }

  private async replayIntoXterm(): Promise<void> {
    const { XtermScreen } = await import("./xterm-screen.ts");
    const xterm = new XtermScreen(this.initial);
    let done = 0;
    for (const { at, run } of this.actions) {
      if (at > done) xterm.write(this.raw.subarray(done, at));
      done = Math.max(done, at);
      run(xterm);
    }
    if (this.rawLength > done) xterm.write(this.raw.subarray(done, this.rawLength));
    this.xterm = xterm;
    this.actions = [];
    this.raw = new Uint8Array(0);
    this.rawLength = 0;
  }
}

/**
 * What a program has printed. Until somebody needs a screen this is only the raw bytes: an emulator costs some
 * megabytes and milliseconds, and most sessions are never looked at. Afterwards too it is given only what a look can
 * show: of output that scrolls by, the last lines.
 */
import { plainTail } from "../plain-output.ts";
import type { Size } from "../protocol.ts";
import { Backlog } from "../terminal-backlog.ts";
import type { XtermScreen } from "./xterm-screen.ts";

export interface ScreenLimits {
  /** Lines kept above the screen. */
  readonly scrollbackLines: number;
  /** Raw output beyond this is shortened, or given to an emulator, whose memory is bounded by its scrollback. */
  readonly rawBytes: number;
  /** What moves about on the screen is given to a loaded emulator sooner, so that no look waits for long. */
  readonly unflowingBytes: number;
}

/** docs/protocol.md says what they cost. */
export const SCREEN_LIMITS: ScreenLimits = {
  scrollbackLines: 1_000,
  rawBytes: 1024 * 1024,
  unflowingBytes: 64 * 1024,
};

type Action = (screen: XtermScreen) => void;

export class Screen {
  private readonly backlog = new Backlog();
  /** What is to happen at which place of the raw output, in order, once the emulator has loaded. */
  private actions: { at: number; run: Action }[] = [];
  private xterm: XtermScreen | null = null;
  private loading: Promise<void> | null = null;
  private size: Size;
  private readonly initial: Size;
  private readonly onProblem: (error: unknown) => void;
  private readonly limits: ScreenLimits;

  constructor(initial: Size, onProblem: (error: unknown) => void, limits = SCREEN_LIMITS) {
    this.initial = initial;
    this.size = initial;
    this.onProblem = onProblem;
    this.limits = limits;
  }

  /** Takes output that ends where nothing is in the middle. `flowFrom`: as a `Scan` says it. */
  write(bytes: Uint8Array, flowFrom: number): void {
    const { rawBytes, unflowingBytes } = this.limits;
    this.backlog.append(bytes, flowFrom);
    if (this.backlog.length <= rawBytes && (this.xterm === null || this.backlog.unflowing <= unflowingBytes))
      return;
    if (this.xterm !== null) this.relieve(this.xterm);
    else if (!this.shortenRaw()) this.load();
  }

  resize(size: Size): void {
    this.size = size;
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

  /** The emulator as the screen is now, when one is there anyway; else null. */
  ifLoaded(): XtermScreen | null {
    if (this.xterm !== null) this.catchUp(this.xterm);
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
      const lines = plainTail(this.backlog.bytes, count);
      if (lines !== null) return lines;
    }
    let tail: string[] = [];
    this.look((xterm) => {
      tail = xterm.tail(count);
    });
    await this.loading;
    return tail;
  }

  private atThisPoint(run: Action): void {
    if (this.xterm !== null) {
      this.catchUp(this.xterm);
      run(this.xterm);
      return;
    }
    this.actions.push({ at: this.backlog.length, run });
    this.backlog.mark();
  }

  /** Forgets raw output that nothing can show any more, which is sure of a terminal in its first state alone. */
  private shortenRaw(): boolean {
    this.backlog.lookThrough();
    return this.backlog.unflowing === 0 && this.shorten();
  }

  /** False when too little could be forgotten for the search to be worth it. */
  private shorten(): boolean {
    const lines = this.limits.scrollbackLines + 2 * this.size.rows;
    return this.backlog.shorten(lines) && this.backlog.length <= this.limits.rawBytes / 2;
  }

  /** Draws what may do anything; what flows behind it waits on, shortened. */
  private relieve(xterm: XtermScreen): void {
    this.backlog.lookThrough();
    this.give(xterm, this.backlog.unflowing);
    if (this.backlog.length > this.limits.rawBytes && !(xterm.scrollsWhole && this.shorten()))
      this.give(xterm, this.backlog.length);
  }

  /** Draws everything that a look can show. */
  private catchUp(xterm: XtermScreen): void {
    this.backlog.lookThrough();
    this.give(xterm, this.backlog.unflowing);
    if (xterm.scrollsWhole) this.shorten();
    this.give(xterm, this.backlog.length);
  }

  private give(xterm: XtermScreen, count: number): void {
    xterm.write(this.backlog.bytes.subarray(0, count));
    this.backlog.drop(count);
  }

  private load(): void {
    this.loading ??= this.replayIntoXterm().catch(this.onProblem);
  }

  private async replayIntoXterm(): Promise<void> {
    const { XtermScreen } = await import("./xterm-screen.ts");
    const xterm = new XtermScreen(this.initial, this.limits.scrollbackLines);
    let done = 0;
    for (const { at, run } of this.actions) {
      if (at > done) this.give(xterm, at - done);
      done = Math.max(done, at);
      run(xterm);
    }
    this.actions = [];
    this.catchUp(xterm);
    this.xterm = xterm;
  }
}

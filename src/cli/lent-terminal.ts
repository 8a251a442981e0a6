/** The terminal that a command was typed in, while a session has it: its settings, its size, and giving it back. */
import { writeSync } from "node:fs";
import process from "node:process";
import { isatty, WriteStream } from "node:tty";
import { errnoOf } from "../errors.ts";
import type { Size } from "../protocol.ts";
import { makeRaw } from "../system/terminal-settings.ts";
import { TerminalUse, takeTerminal } from "../terminal-use.ts";
import { PumpedOutput } from "./pumped-output.ts";

const INPUT = 0;
const OUTPUT = 1;
/** A terminal that nobody reads is not waited for any longer. */
const GIVE_BACK_MS = 500;
const UNKNOWN: Size = { rows: 0, cols: 0 };

export class LentTerminal {
  readonly hasKeyboard = isatty(INPUT);
  readonly output: PumpedOutput;
  private readonly use = isatty(OUTPUT) ? new TerminalUse() : null;
  private makeCooked: (() => void) | null = null;
  private taken = false;

  constructor() {
    this.output = new PumpedOutput(OUTPUT, (bytes) => this.use?.show(bytes));
    process.on("exit", () => this.giveBackAtOnce());
  }

  /** Rows and columns; 0 by 0 where there is no terminal. */
  size(): Size {
    const descriptor = this.use !== null ? OUTPUT : INPUT;
    if (!isatty(descriptor)) return UNKNOWN;
    const [cols, rows] = new WriteStream(descriptor).getWindowSize();
    return { rows, cols };
  }

  /** Raw keys in, and a cleared screen. */
  take(): void {
    if (this.hasKeyboard) this.makeCooked = makeRaw(INPUT);
    this.taken = true;
    if (this.use !== null) this.output.push(Buffer.from(takeTerminal(this.size().rows || 24)));
  }

  /** Every mode reset, the settings as they were. What was still to be shown is forgotten unless it was waited for. */
  async giveBack(): Promise<void> {
    if (!this.taken) return;
    this.output.discard();
    await Promise.race([this.output.drained(), Bun.sleep(GIVE_BACK_MS)]);
    if (this.use !== null) this.output.push(Buffer.from(this.use.giveBack()));
    this.taken = false;
    await Promise.race([this.output.drained(), Bun.sleep(GIVE_BACK_MS)]);
    this.makeCooked?.();
  }

  /** The way out of an unexpected error. */
  private giveBackAtOnce(): void {
    if (!this.taken) return;
    this.taken = false;
    try {
      if (this.use !== null) writeSync(OUTPUT, this.use.giveBack());
    } catch (error) {
      // A terminal that is gone, or that takes nothing, needs nothing.
      if (errnoOf(error) === null) throw error;
    }
    this.makeCooked?.();
  }
}

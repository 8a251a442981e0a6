/**
 * The terminal modes that a program has switched on, followed from its output, so that a client that attaches later
 * can be put into them: what xterm's serialize addon does not write out, and what DECRQM asks for.
 */
import type { Sequence } from "./terminal-scan.ts";

/** Private modes that a screen must restore and that the serialize addon leaves out, with their values at reset. */
const RESTORED: readonly (readonly [mode: number, atReset: boolean])[] = [
  [25, true],
  [1005, false],
  [1006, false],
  [1007, false],
  [1015, false],
  [1016, false],
  [2031, false],
];
/** Modes whose value at reset is "set". */
const SET_AT_RESET = new Set([7, 25]);
/** Modes that a question about is answered for even while the program has not touched them. */
const KNOWN = new Set([
  1, 3, 5, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016,
]);
for (const mode of [1047, 1048, 1049, 2004, 2026]) KNOWN.add(mode);

export class TerminalModes {
  private readonly modes = new Map<number, boolean>();
  private kitty: number[] = [];
  private cursorStyle = "";
  /** Window title as last set, "" when never. */
  title = "";

  /** Takes one sequence of the program's output into account. */
  apply(sequence: Sequence): void {
    if (sequence.kind === "reset") this.reset();
    if (sequence.kind === "osc") {
      const title = /^[02];(.*)$/s.exec(sequence.text);
      if (title !== null) this.title = title[1]!;
    }
    if (sequence.kind !== "csi") return;
    const { params, final } = sequence;
    if ((final === "h" || final === "l") && params.startsWith("?")) {
      for (const mode of params.slice(1).split(";")) this.modes.set(Number(mode), final === "h");
    } else if (final === "p" && params === "!") this.softReset();
    else if (final === "q" && params.endsWith(" ")) this.cursorStyle = params.trimEnd();
    else if (final === "u") this.applyKitty(params);
  }

  /** Whether a private mode is set; null when nothing is known of it. */
  isSet(mode: number): boolean | null {
    return this.modes.get(mode) ?? (KNOWN.has(mode) ? SET_AT_RESET.has(mode) : null);
  }

  /** The flags of the kitty keyboard protocol in force; 0 is the ordinary keyboard. */
  get kittyFlags(): number {
    return this.kitty.at(-1) ?? 0;
  }

  /** The levels of the kitty keyboard protocol in force, the outermost first. */
  get kittyStack(): readonly number[] {
    return this.kitty;
  }

  /** The private modes that differ from their value at reset, in ascending order. */
  changed(): { readonly mode: number; readonly on: boolean }[] {
    return [...this.modes]
      .filter(([mode, on]) => on !== SET_AT_RESET.has(mode))
      .map(([mode, on]) => ({ mode, on }))
      .sort((a, b) => a.mode - b.mode);
  }

  /** Escape sequences that put a terminal in its reset state into these modes. */
  restore(): string {
    let text = "";
    for (const [mode, atReset] of RESTORED) {
      const value = this.modes.get(mode) ?? atReset;
      if (value !== atReset) text += `\x1b[?${mode}${value ? "h" : "l"}`;
    }
    if (this.cursorStyle !== "" && this.cursorStyle !== "0") text += `\x1b[${this.cursorStyle} q`;
    for (const flags of this.kitty) text += `\x1b[>${flags}u`;
    if (this.title !== "") text += `\x1b]2;${this.title}\x1b\\`;
    return text;
  }

  private applyKitty(params: string): void {
    const numbers = params.slice(1).split(";").map(Number);
    const first = numbers[0] || 0;
    switch (params[0]) {
      case ">":
        this.kitty = [...this.kitty, first].slice(-16);
        break;
      case "<":
        this.kitty.splice(-(first || 1));
        break;
      case "=": {
        const now = this.kittyFlags;
        const next = numbers[1] === 2 ? now | first : numbers[1] === 3 ? now & ~first : first;
        this.kitty.splice(-1, 1, next);
        break;
      }
    }
  }

  private softReset(): void {
    for (const mode of [1, 6, 66]) this.modes.delete(mode);
    this.modes.delete(25);
    this.cursorStyle = "";
  }

  private reset(): void {
    this.modes.clear();
    this.kitty = [];
    this.cursorStyle = "";
  }
}

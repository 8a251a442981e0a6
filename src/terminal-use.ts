/**
 * A person's own terminal, lent to a session: how it is taken, and how it is given back with every mode reset that the
 * program behind the session had switched on.
 */
import { TerminalModes } from "./terminal-modes.ts";
import { TerminalScanner } from "./terminal-scan.ts";

/** The other screen, by the numbers that programs ask for it with. */
const ALTERNATE = new Set([47, 1047, 1049]);
/** Switching these back does more than that: a cursor moves, a screen is cleared. */
const LEFT_ALONE = new Set([3, 40, 1048]);
/**
 * Reset whatever was seen: what undoes nothing where nothing was done. In order: an unfinished string, delayed drawing,
 * cursor keys, mouse, focus, bracketed paste, and the cursor; then insert mode, keypad, character set, modifyOtherKeys,
 * cursor shape.
 */
const ALWAYS =
  "\x1b\\\x1b[?2026l\x1b[?1l\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l" +
  "\x1b[?1016l\x1b[?2004l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b>\x1b(B\x0f\x1b[>4m\x1b[0 q";
/** OSC that sets a colour, with the one that takes it back. */
const COLOR_RESETS: Readonly<Record<string, string>> = {
  4: "104",
  5: "105",
  10: "110",
  11: "111",
  12: "112",
};

const SAVE_TITLE = "\x1b[22;0t";
const RESTORE_TITLE = "\x1b[23;0t";

/** Takes a terminal of so many rows: what it shows goes to its scrollback, and it is cleared. */
export function takeTerminal(rows: number): string {
  return `${SAVE_TITLE}\x1b[0m\x1b[${rows};1H${"\n".repeat(rows)}\x1b[H\x1b[2J`;
}

/** Follows what a terminal is shown. */
export class TerminalUse {
  private readonly scanner = new TerminalScanner();
  private readonly modes = new TerminalModes();
  private readonly colors = new Set<string>();

  /** Takes output into account that the terminal has been shown. */
  show(bytes: Uint8Array): void {
    for (const { sequence } of this.scanner.scan(bytes).found) {
      this.modes.apply(sequence);
      if (sequence.kind !== "osc") continue;
      const [, color, value] = /^(\d+);(.*)$/s.exec(sequence.text) ?? [];
      const reset = COLOR_RESETS[color ?? ""];
      if (reset !== undefined && value !== "?" && !value?.endsWith(";?")) this.colors.add(reset);
    }
  }

  /** Gives the terminal back: no mode is left on, and the cursor is on a fresh line at the bottom. */
  giveBack(): string {
    const kittyDepth = this.modes.kittyStack.length;
    const popKeys = kittyDepth === 0 ? "" : `\x1b[<${kittyDepth}u`;
    const changed = this.modes.changed().filter(({ mode }) => !LEFT_ALONE.has(mode));
    const back = (wanted: boolean) =>
      changed
        .filter(({ mode }) => ALTERNATE.has(mode) === wanted)
        .map(({ mode, on }) => `\x1b[?${mode}${on ? "l" : "h"}`)
        .join("");
    const alternate = back(true);
    const colors = [...this.colors].map((reset) => `\x1b]${reset}\x1b\\`).join("");
    // Each of the two screens has its own levels of keyboard, margins and colours.
    const leave = alternate === "" ? "" : `\x1b[r\x1b[0m${alternate}${popKeys}`;
    return `${ALWAYS}${back(false)}${popKeys}${leave}\x1b[r\x1b[0m${colors}${RESTORE_TITLE}\x1b[9999;1H\r\n`;
  }
}

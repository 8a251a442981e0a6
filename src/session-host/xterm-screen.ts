/** The screen and scrollback of one terminal, kept by xterm's headless emulator. Loaded only when somebody asks. */
import { SerializeAddon } from "@xterm/addon-serialize";
import { type ITerminalAddon, Terminal } from "@xterm/headless";
import { trimLines } from "../plain-output.ts";
import type { Size } from "../protocol.ts";
import type { CursorPosition } from "../terminal-queries.ts";

/** xterm keeps a buffer of four times the largest piece that it was ever given. */
const WRITE_BYTES = 8 * 1024;

const ENTER_ALTERNATE = "\x1b[?1049h\x1b[H";

/** What is not part of the public interface. */
interface WithCore {
  readonly _core: {
    /** The public `write` parses later, by timers, with no bound; only this one parses before it returns. */
    writeSync(data: Uint8Array): void;
    /** The margins are told nowhere else. */
    readonly buffer: { readonly scrollTop: number; readonly scrollBottom: number };
    /** 0: in the middle of nothing. */
    readonly _inputHandler: { readonly _parser: { readonly currentState: number } };
  };
}

export class XtermScreen {
  private readonly terminal: Terminal;
  private readonly addon = new SerializeAddon();

  /** `scrollback`: lines kept above the screen. */
  constructor(size: Size, scrollback: number) {
    this.terminal = new Terminal({
      rows: size.rows,
      cols: size.cols,
      scrollback,
      allowProposedApi: true,
      logLevel: "off",
    });
    this.terminal.loadAddon(this.addon as unknown as ITerminalAddon);
  }

  /** Takes output and has parsed it on return. */
  write(bytes: Uint8Array): void {
    const { core } = this;
    for (let offset = 0; offset < bytes.length; offset += WRITE_BYTES) {
      core.writeSync(bytes.subarray(offset, offset + WRITE_BYTES));
    }
  }

  resize(size: Size): void {
    this.terminal.resize(size.cols, size.rows);
  }

  /** Whether text is text, and a line end at the bottom moves every line of the screen up. */
  get scrollsWhole(): boolean {
    const { buffer, _inputHandler } = this.core;
    const whole = buffer.scrollTop === 0 && buffer.scrollBottom === this.terminal.rows - 1;
    return whole && _inputHandler._parser.currentState === 0;
  }

  cursor(): CursorPosition {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    return { row: cursorY + 1, col: Math.min(cursorX, this.terminal.cols - 1) + 1 };
  }

  /** Lines of the buffer that is shown, screen included: how many there are, and how many there can be. */
  lineCounts(): { readonly used: number; readonly capacity: number } {
    return {
      used: this.terminal.buffer.active.length,
      capacity: (this.terminal.options.scrollback ?? 0) + this.terminal.rows,
    };
  }

  /** The whole terminal with scrollback and modes, as output that puts a cleared terminal into its state. */
  replay(): string {
    return this.addon.serialize();
  }

  /** What is on the screen, as output that switches no mode of the terminal it is shown on; `full`: the scrollback too. */
  look(full: boolean): string {
    const text = this.addon.serialize({ excludeModes: true, ...(full ? {} : { scrollback: 0 }) });
    if (this.terminal.buffer.active.type === "normal") return text;
    const [normal, alternate] = splitOnce(text, ENTER_ALTERNATE);
    return full ? `${normal}\x1b[0m\r\n${alternate}` : alternate;
  }

  /** The screen as plain text; `full`: the scrollback too. Lines that only the width broke are joined. */
  text(full: boolean): string {
    const { normal, active } = this.terminal.buffer;
    const above = full ? this.lines(normal, 0, active === normal ? normal.baseY : normal.length) : [];
    const below = this.lines(active, active.baseY, active.length);
    const shown = active === normal ? [...above, ...below] : [...trimLines(above, above.length), ...below];
    return trimLines(shown, shown.length).join("\n");
  }

  /** Up to `count` last lines of what was printed. */
  tail(count: number): string[] {
    return trimLines(this.text(true).split("\n"), count);
  }

  private get core(): WithCore["_core"] {
    return (this.terminal as unknown as WithCore)._core;
  }

  private lines(buffer: Terminal["buffer"]["active"], from: number, to: number): string[] {
    const lines: string[] = [];
    for (let index = from; index < to; index++) {
      const line = buffer.getLine(index);
      if (line === undefined) continue;
      const continues = buffer.getLine(index + 1)?.isWrapped === true && index + 1 < to;
      const text = line.translateToString(!continues);
      if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return lines;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? ["", text] : [text.slice(0, at), text.slice(at + separator.length)];
}

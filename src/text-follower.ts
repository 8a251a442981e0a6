/**
 * Lines of text out of a program's terminal output as it comes, for somebody who follows it without a terminal.
 * Exact for programs that print lines. Of a program that draws a screen it gives each line that is new.
 */

/** An unfinished escape sequence longer than this is no sequence. */
const HOLD_CHARACTERS = 4_096;
/** Lines of a drawn screen that were said so lately are not said again. */
const REMEMBERED_LINES = 400;
/** No terminal is wider: a program cannot make a line of blanks longer than this. */
const MOST_COLUMNS = 1_000;
/** Characters of a line that does not end, after which it is said as far as it came. */
const LONGEST_LINE = 16_384;
const TAB = 8;

const TOKEN =
  /\x1b\[(?<params>[0-?]*)[ -/]*(?<final>[@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b(?<letter>[ -/]*[0-Z\\`-~])|(?<control>[\x00-\x1f\x7f])|(?<text>[^\x00-\x1f\x7f]+)/gu;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/u;
/** Sequences that leave the line: cursor up, down, to a place; erasing and scrolling the screen. */
const LEAVING = new Set("ABEFHJLMSTdf");
/** `ESC` 7, 8, c, D, E, M: the cursor kept, brought back, moved, the screen cleared. */
const LEAVING_ESCAPES = new Set("78cDEM");

export class TextFollower {
  private held = "";
  private line: string[] = [];
  private column = 0;
  /** The program moves about its screen. */
  private drawing = false;
  private readonly recent: string[] = [];

  /** The lines that this output completes, without blanks at their ends. */
  push(output: string): string[] {
    let text = this.held + output;
    const unfinished = UNFINISHED.exec(text)?.[0] ?? "";
    this.held = unfinished.length > HOLD_CHARACTERS ? "" : unfinished;
    text = text.slice(0, text.length - unfinished.length);
    const lines: string[] = [];
    for (const { groups } of text.matchAll(TOKEN)) {
      const { text: plain, control, final, params = "", letter } = groups ?? {};
      if (plain !== undefined) this.put(plain, lines);
      else if (control !== undefined) this.control(control, lines);
      else if (final !== undefined) this.sequence(final, params, lines);
      else if (letter !== undefined && LEAVING_ESCAPES.has(letter)) this.leave(lines);
    }
    return lines;
  }

  /** The line that was begun and not ended, if any. */
  flush(): string[] {
    const lines: string[] = [];
    if (this.line.length > 0) this.end(lines);
    return lines;
  }

  /** A screen in place of output that was lost: what of it has not been said. */
  resume(screen: string): string[] {
    const before = this.drawing;
    this.drawing = true;
    this.held = "";
    this.line = [];
    this.column = 0;
    const lines = [...this.push(screen), ...this.flush()];
    this.drawing = before;
    return lines;
  }

  private put(text: string, lines: string[]): void {
    for (const character of text) {
      if (this.column >= LONGEST_LINE) this.end(lines);
      while (this.line.length < this.column) this.line.push(" ");
      this.line[this.column] = character;
      this.column += 1;
    }
  }

  private control(control: string, lines: string[]): void {
    switch (control) {
      case "\n":
        this.end(lines);
        break;
      case "\r":
        this.column = 0;
        break;
      case "\b":
        this.column = Math.max(0, this.column - 1);
        break;
      case "\t":
        this.column += TAB - (this.column % TAB);
        break;
    }
  }

  private sequence(final: string, params: string, lines: string[]): void {
    const count = Math.min(MOST_COLUMNS, Number.parseInt(params, 10) || 1);
    if (final === "C") this.column += count;
    else if (final === "D") this.column = Math.max(0, this.column - count);
    else if (final === "G") this.column = count - 1;
    else if (final === "K") this.eraseLine(Number.parseInt(params, 10) || 0);
    else if (LEAVING.has(final) || ((final === "h" || final === "l") && params.startsWith("?1049")))
      this.leave(lines);
  }

  private eraseLine(what: number): void {
    if (what === 0) this.line.length = Math.min(this.line.length, this.column);
    if (what === 1) this.line.fill(" ", 0, this.column);
    if (what === 2) this.line = [];
  }

  private leave(lines: string[]): void {
    this.drawing = true;
    if (this.line.length > 0) this.end(lines);
    this.column = 0;
  }

  private end(lines: string[]): void {
    const text = this.line.join("").trimEnd();
    this.line = [];
    this.column = 0;
    if (this.drawing && (text === "" || this.recent.includes(text))) return;
    this.recent.push(text);
    if (this.recent.length > REMEMBERED_LINES) this.recent.shift();
    lines.push(text);
  }
}

/**
 * The last lines of a program's output as plain text, where the output is simple enough to be read without a terminal:
 * lines, carriage returns, tabs, colours. Anything that moves the cursor about needs the real screen.
 */

const TAIL_BYTES = 64 * 1024;
const MARKUP = /\x07|\x1b\[[\d;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const TAB = 8;

/**
 * Up to `count` last lines of `output`, without trailing blanks and blank lines at the end; null when the output
 * holds more than lines and colours, so that only a screen can say what it looks like.
 */
export function plainTail(output: Uint8Array, count: number): string[] | null {
  let start = Math.max(0, output.length - TAIL_BYTES);
  if (start > 0) start = output.indexOf(0x0a, start) + 1;
  if (start === 0 && output.length > TAIL_BYTES) return null;
  const text = new TextDecoder().decode(output.subarray(start));
  const plain = text.replaceAll(MARKUP, "");
  if (CONTROL.test(plain)) return null;
  return trimLines(plain.split("\n").map(overwrite), count);
}

/** The last `count` of `lines`, after blank ones at the end have been dropped. */
export function trimLines(lines: readonly string[], count: number): string[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1] === "") end -= 1;
  return lines.slice(Math.max(0, end - count), end);
}

/** What one line shows after its carriage returns and tabs. */
function overwrite(line: string): string {
  let shown: string[] = [];
  for (const part of line.replace(/\r+$/, "").split("\r")) {
    const characters: string[] = [];
    for (const character of part) {
      if (character !== "\t") characters.push(character);
      else
        do characters.push(" ");
        while (characters.length % TAB !== 0);
    }
    shown = [...characters, ...shown.slice(characters.length)];
  }
  return shown.join("").trimEnd();
}

/**
 * Output that only flows: characters, line ends, colours, clearing within a line. Nothing in it moves up, so that after
 * enough lines nothing of what a terminal showed before is left, and only the last of them need be drawn. Which
 * sequences flow is said by `src/terminal-scan.ts`.
 */

const LF = 0x0a;
const CR = 0x0d;
/** Looked through at once. */
const PIECE_BYTES = 64 * 1024;
/** Controls that do more than BEL, BS, HT, LF and CR, and C1 controls as UTF-8: they may begin a sequence, too. */
const DISTURBING = /[\x00-\x06\x0b\x0c\x0e-\x1a\x1c-\x1f]|\xc2[\x80-\x9f]/g;
/** What sets how the characters behind it look, the same whatever was set before. */
const LOOKS = /\x1b(?:\[[\d:;]*m|\(B)/g;
/** Different ones; a program that uses more mixes colours as it goes. */
const MAX_LOOKS = 2_000;
const RESETS = ["\x1b[m", "\x1b[0m"].map((text) => Buffer.from(text));

/** The offset behind the last single control of `bytes` that does not flow; 0 when there is none. */
export function behindControls(bytes: Uint8Array): number {
  for (let end = bytes.length; end > 0; end -= PIECE_BYTES) {
    const start = Math.max(0, end - PIECE_BYTES - 1);
    const last = [...latinOf(bytes.subarray(start, end)).matchAll(DISTURBING)].at(-1);
    if (last !== undefined) return start + last.index + last[0].length;
  }
  return 0;
}

/**
 * The end of `flow`, which only flows, with its last `lines` line ends and a little more, and in front of it the looks that
 * were set before: a terminal whose scrollback and twice its screen have no more lines than that shows the same after it
 * as after all of `flow`, if its margins are those of the screen. Null when `flow` has fewer, or mixes too many looks.
 */
export function endOfFlow(flow: Uint8Array, lines: number): Uint8Array | null {
  let cut = flow.length;
  for (let count = 0; count < lines; count++) {
    cut = cut === 0 ? -1 : flow.lastIndexOf(LF, cut - 1);
    if (cut < 0) return null;
  }
  // In front of it the column does not matter.
  cut = cut === 0 ? -1 : flow.lastIndexOf(CR, cut - 1);
  if (cut < 0) return null;
  const looks = looksAfter(flow.subarray(0, cut));
  return looks === null ? null : Buffer.concat([looks, flow.subarray(cut)]);
}

/** Of each look the last time that it was set, in order. Null when they are too many. */
function looksAfter(flow: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(flow.buffer, flow.byteOffset, flow.length);
  const from = Math.max(0, ...RESETS.map((reset) => bytes.lastIndexOf(reset)));
  const looks = new Set<string>();
  for (const [look] of latinOf(bytes.subarray(from)).matchAll(LOOKS)) {
    looks.delete(look);
    looks.add(look);
    if (looks.size > MAX_LOOKS) return null;
  }
  return Buffer.from([...looks].join(""), "latin1");
}

/** One character for each byte. */
function latinOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

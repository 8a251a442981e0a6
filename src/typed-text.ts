/** Text on its way into a terminal, in pieces that end with a whole character. */
import { unfinishedCharacter } from "./terminal-scan.ts";

export const PASTE_BEGIN = "\x1b[200~";
export const PASTE_END = "\x1b[201~";

const ESC = 0x1b;
const MARKER = Buffer.from(PASTE_END);
const VISIBLE_ESC = Buffer.from("␛");

export class TypedText {
  private readonly pasted: boolean;
  private held: Uint8Array = new Uint8Array(0);

  /** In `pasted` text the ESC of an end of a paste becomes `␛`, so that the text cannot end the paste around it. */
  constructor(pasted: boolean) {
    this.pasted = pasted;
  }

  /** Takes the next bytes; gives those that can go out, which may share memory with them. */
  push(bytes: Uint8Array): Uint8Array {
    const all = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    const kept = Math.max(unfinishedCharacter(all), this.pasted ? unfinishedMarker(all) : 0);
    this.held = all.slice(all.length - kept);
    const whole = all.subarray(0, all.length - kept);
    return this.pasted ? withoutEnds(whole) : whole;
  }

  /** What was kept back, at the end of the text. */
  finish(): Uint8Array {
    const rest = this.held;
    this.held = new Uint8Array(0);
    return rest;
  }
}

/** How many bytes at the end may be the beginning of an end of a paste. */
function unfinishedMarker(bytes: Uint8Array): number {
  const from = bytes.lastIndexOf(ESC);
  const length = from < 0 ? 0 : bytes.length - from;
  if (length === 0 || length >= MARKER.length) return 0;
  return MARKER.subarray(0, length).equals(bytes.subarray(from)) ? length : 0;
}

function withoutEnds(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let at = text.indexOf(MARKER); at >= 0; at = text.indexOf(MARKER, from)) {
    pieces.push(text.subarray(from, at), VISIBLE_ESC);
    from = at + 1;
  }
  if (pieces.length === 0) return bytes;
  return Buffer.concat([...pieces, text.subarray(from)]);
}

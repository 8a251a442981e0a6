/**
 * Cuts a program's terminal output at places where nothing is in the middle: neither a character nor an escape
 * sequence. Reports the sequences that a host acts on. Incremental: however the stream was split, the same comes out.
 */

export type Sequence =
  /** `ESC [ <params> <final>`; `params` is everything between, prefix and intermediates included. */
  | { readonly kind: "csi"; readonly params: string; readonly final: string }
  /** `ESC ] <text>`, with the terminator that the program used. */
  | { readonly kind: "osc"; readonly text: string; readonly terminator: "\x07" | "\x1b\\" }
  /** `ESC P <text>`. */
  | { readonly kind: "dcs"; readonly text: string }
  /** `ESC c`: full reset. */
  | { readonly kind: "reset" }
  | { readonly kind: "bell" };

export interface Scan {
  /** What may be passed on: everything up to the last boundary, what was held back earlier included. */
  readonly bytes: Uint8Array;
  /** Sequences that end in `bytes`, each with the offset after it, in order. */
  readonly found: readonly { readonly sequence: Sequence; readonly end: number }[];
  /**
   * First offset in `bytes` at which nothing is in the middle: 0 unless an overlong sequence was let go unfinished
   * before; -1 when it has not ended yet.
   */
  readonly firstBoundary: number;
  /**
   * Offset in `bytes` behind which no sequence does more than `src/terminal-flow.ts` reckons with: `bytes.length` while
   * an overlong one is being let go.
   */
  readonly flowFrom: number;
  /** The part of `bytes` that can draw anything: all of it, but for sequences too long to be held. */
  readonly drawn: { readonly from: number; readonly to: number };
}

/** An unfinished sequence longer than this is passed on as it comes. */
export const HOLD_BYTES = 64 * 1024;

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** Final bytes of the CSI sequences that are reported: c h l n p q t u, as char codes. */
const REPORTED_FINALS = new Set([..."chlnpqtu"].map((letter) => letter.charCodeAt(0)));

type State = "ground" | "escape" | "csi" | "osc" | "string" | "dcs";

const latin = new TextDecoder("latin1");
const utf8 = new TextDecoder();

export class TerminalScanner {
  private state: State = "ground";
  /** Within a string sequence: the byte before was ESC. */
  private afterEscape = false;
  /** Bytes of the unfinished sequence or character, from its first byte on. */
  private held: Uint8Array = new Uint8Array(0);
  /** The unfinished sequence was too long to hold and has been let go in part. */
  private overflowed = false;

  /** Whether everything passed on so far ends where nothing is in the middle. */
  get atBoundary(): boolean {
    return !this.overflowed;
  }

  /** Takes the next bytes of output. */
  scan(chunk: Uint8Array): Scan {
    const bytes = this.held.length === 0 ? chunk : concat(this.held, chunk);
    const found: { sequence: Sequence; end: number }[] = [];
    let start = this.state === "ground" ? -1 : 0;
    let firstBoundary = this.overflowed ? -1 : 0;
    let flowFrom = 0;
    let drawFrom = this.overflowed ? -1 : 0;
    let bell = -2;
    let index = this.state === "ground" ? 0 : this.held.length;
    while (index < bytes.length) {
      if (this.state === "ground") {
        const next = bytes.indexOf(ESC, index);
        const limit = next < 0 ? bytes.length : next;
        if (bell !== -1 && bell < index) bell = bytes.indexOf(BEL, index);
        for (; bell >= 0 && bell < limit; bell = bytes.indexOf(BEL, bell + 1)) {
          found.push({ sequence: { kind: "bell" }, end: bell + 1 });
        }
        if (next < 0) break;
        const whole = endOfCsi(bytes, next);
        if (whole > 0) {
          index = whole;
          if (flows(bytes, next, whole)) continue;
          flowFrom = whole;
          const sequence = finished(bytes, next, whole);
          if (sequence !== null) found.push({ sequence, end: whole });
          continue;
        }
        this.state = "escape";
        start = next;
        index = next + 1;
        continue;
      }
      const byte = bytes[index]!;
      index += 1;
      const beginsAnew = this.beginsAnew(byte);
      if (beginsAnew !== null) {
        this.state = "escape";
        this.afterEscape = false;
        start = index - beginsAnew;
        if (this.overflowed) {
          this.overflowed = false;
          firstBoundary = start;
          drawFrom = start;
        }
        if (beginsAnew === 1) continue;
      }
      if (!this.step(byte)) continue;
      const sequence = this.overflowed ? null : finished(bytes, start, index);
      if (sequence !== null) found.push({ sequence, end: index });
      if (this.overflowed || !flows(bytes, start, index, sequence)) flowFrom = index;
      if (this.overflowed) {
        firstBoundary = index;
        drawFrom = index;
      }
      this.overflowed = false;
      this.state = "ground";
      this.afterEscape = false;
      start = -1;
    }
    const end = start < 0 ? bytes.length - unfinishedCharacter(bytes) : start;
    return { ...this.cut(bytes, end, drawFrom, flowFrom), found, firstBoundary };
  }

  /** Everything held back, for the end of the program. */
  flush(): Scan {
    const bytes = this.held;
    const drawn = { from: this.overflowed ? bytes.length : 0, to: bytes.length };
    this.held = new Uint8Array(0);
    this.state = "ground";
    this.afterEscape = false;
    this.overflowed = false;
    return { bytes, found: [], firstBoundary: 0, flowFrom: bytes.length, drawn };
  }

  /**
   * Whether an ESC cuts the running sequence off and begins the next: how many bytes back that ESC is, this byte
   * being 1. Null when not.
   */
  private beginsAnew(byte: number): 1 | 2 | null {
    if (this.state === "escape" || this.state === "csi") return byte === ESC ? 1 : null;
    return this.afterEscape && byte !== 0x5c ? 2 : null;
  }

  /** One byte within a sequence. True when the sequence ends with it. */
  private step(byte: number): boolean {
    switch (this.state) {
      case "escape":
        return this.stepEscape(byte);
      case "csi":
        return (byte >= 0x40 && byte <= 0x7e) || byte === CAN || byte === SUB;
      default:
        if (this.afterEscape) return true;
        this.afterEscape = byte === ESC;
        return byte === CAN || byte === SUB || (byte === BEL && this.state === "osc");
    }
  }

  private stepEscape(byte: number): boolean {
    switch (byte) {
      case 0x5b:
        this.state = "csi";
        return false;
      case 0x5d:
        this.state = "osc";
        return false;
      case 0x50:
        this.state = "dcs";
        return false;
      case 0x58:
      case 0x5e:
      case 0x5f:
        this.state = "string";
        return false;
      default:
        return byte >= 0x30 || byte === CAN || byte === SUB;
    }
  }

  private cut(bytes: Uint8Array, end: number, drawFrom: number, flowFrom: number) {
    if (!this.overflowed && bytes.length - end <= HOLD_BYTES) {
      this.held = bytes.slice(end);
      return { bytes: bytes.subarray(0, end), flowFrom, drawn: { from: drawFrom, to: end } };
    }
    this.overflowed = true;
    // It may be the first byte of what cuts the overlong sequence off.
    const length = bytes.length - (this.afterEscape ? 1 : 0);
    this.held = bytes.slice(length);
    const drawn = drawFrom < 0 ? { from: length, to: length } : { from: drawFrom, to: end };
    return { bytes: bytes.subarray(0, length), flowFrom: length, drawn };
  }
}

/** The end of the CSI sequence at `start` when all of it is there and no control is within it; else 0. */
function endOfCsi(bytes: Uint8Array, start: number): number {
  if (bytes[start + 1] !== 0x5b) return 0;
  for (let index = start + 2; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (byte >= 0x40 && byte <= 0x7e) return index + 1;
    if (byte < 0x20 || byte > 0x3f) return 0;
  }
  return 0;
}

/**
 * Whether the sequence in `bytes[start, end)` is a colour or another look of characters (`CSI … m`), clears within its
 * line (`CSI … K`), names the ordinary character set (`ESC ( B`), or is an OSC that draws nothing.
 */
function flows(bytes: Uint8Array, start: number, end: number, sequence: Sequence | null = null): boolean {
  if (sequence?.kind === "osc") return /^(?:0|1|2|9|777);/.test(sequence.text);
  const last = bytes[end - 1]!;
  if (bytes[start + 1] !== 0x5b) return end - start === 3 && bytes[start + 1] === 0x28 && last === 0x42;
  if (last !== 0x6d && last !== 0x4b) return false;
  for (let index = start + 2; index < end - 1; index++) {
    if (bytes[index]! < 0x30 || bytes[index]! > 0x3b) return false;
  }
  return true;
}

/** The sequence in `bytes[start, end)`, or null when nobody acts on it. */
function finished(bytes: Uint8Array, start: number, end: number): Sequence | null {
  const last = bytes[end - 1]!;
  switch (bytes[start + 1]) {
    case 0x5b: {
      if (!REPORTED_FINALS.has(last)) return null;
      const params = latin.decode(bytes.subarray(start + 2, end - 1));
      return { kind: "csi", params, final: String.fromCharCode(last) };
    }
    case 0x5d: {
      if (last === CAN || last === SUB) return null;
      const terminator = last === BEL ? "\x07" : "\x1b\\";
      const text = utf8.decode(bytes.subarray(start + 2, end - terminator.length));
      return { kind: "osc", text, terminator };
    }
    case 0x50:
      return last === 0x5c ? { kind: "dcs", text: latin.decode(bytes.subarray(start + 2, end - 2)) } : null;
    case 0x63:
      return { kind: "reset" };
    default:
      return null;
  }
}

/** How many bytes at the end are the beginning of a UTF-8 character that has not ended. */
export function unfinishedCharacter(bytes: Uint8Array): number {
  const size = bytes.length;
  for (let back = 1; back <= Math.min(3, size); back++) {
    const byte = bytes[size - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte <= 0xf4 && length > back ? back : 0;
  }
  return 0;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

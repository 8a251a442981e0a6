/**
 * What a person types into an attached session, with the detach key taken out: `Ctrl-\` once detaches, twice within
 * `DOUBLE_MS` it goes to the program. Incremental: however the keyboard's bytes were split, the same comes out.
 */
import { unfinishedCharacter } from "./terminal-scan.ts";

/** Two presses of the detach key within this time are one for the program. */
export const DOUBLE_MS = 300;
/** Longest time that the beginning of a key's sequence is kept back for its rest: Escape is a key of its own. */
export const SEQUENCE_MS = 20;

export interface Typed {
  /** What goes to the session: whole characters, and no part of the detach key. */
  readonly bytes: Uint8Array;
  /** The detach key was pressed, and not twice: nothing that is typed after it goes anywhere. */
  readonly detach: boolean;
  /** Call `expire` when nothing more has come after this time; null when nothing is kept back. */
  readonly waitMs: number | null;
}

const DETACH_BYTE = 0x1c;
const ESC = 0x1b;
const LONGEST_SEQUENCE = 32;
const PASTE_BEGIN = "200~";
const PASTE_END = "\x1b[201~";

const latin = new TextDecoder("latin1");

export class DetachScanner {
  private held: Uint8Array = new Uint8Array(0);
  /** The detach key has been pressed once, and may be pressed again. */
  private pressed = false;
  /** Within a bracketed paste every byte is text. */
  private pasting = false;

  /** Takes the next bytes of the keyboard. */
  push(bytes: Uint8Array): Typed {
    const all = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    this.held = new Uint8Array(0);
    const kept: Uint8Array[] = [];
    for (let at = 0; at < all.length; ) {
      const next = this.nextOfInterest(all, at);
      this.keep(kept, all.subarray(at, next));
      if (next === all.length) break;
      const length = this.take(all.subarray(next, next + LONGEST_SEQUENCE), kept);
      if (length === null) {
        this.held = all.slice(next);
        break;
      }
      at = next + length;
    }
    return this.typed(kept);
  }

  /** Nothing more has come in the time that `push` named, or nothing will: what was kept back is what it looks like. */
  expire(): Typed {
    const rest = this.held;
    this.held = new Uint8Array(0);
    if (this.pressed) return { bytes: new Uint8Array(0), detach: true, waitMs: null };
    return { bytes: rest, detach: false, waitMs: null };
  }

  private typed(kept: readonly Uint8Array[]): Typed {
    const joined = kept.length === 1 ? kept[0]! : Buffer.concat(kept);
    const cut = this.held.length === 0 && !this.pressed ? unfinishedCharacter(joined) : 0;
    if (cut > 0) this.held = joined.slice(joined.length - cut);
    const waitMs = this.pressed ? DOUBLE_MS : this.held.length > 0 ? SEQUENCE_MS : null;
    return { bytes: joined.subarray(0, joined.length - cut), detach: false, waitMs };
  }

  /** After one press only a second one counts: what a person types then is no longer meant for the program. */
  private keep(kept: Uint8Array[], bytes: Uint8Array): void {
    if (!this.pressed && bytes.length > 0) kept.push(bytes);
  }

  private nextOfInterest(bytes: Uint8Array, from: number): number {
    const sequence = bytes.indexOf(ESC, from);
    const key = this.pasting ? -1 : bytes.indexOf(DETACH_BYTE, from);
    const found = [sequence, key].filter((at) => at >= 0);
    return found.length === 0 ? bytes.length : Math.min(...found);
  }

  /** The key or sequence that `bytes` begins with: its length, or null when its rest is still to come. */
  private take(bytes: Uint8Array, kept: Uint8Array[]): number | null {
    if (bytes[0] === DETACH_BYTE) {
      this.press(kept, bytes.subarray(0, 1));
      return 1;
    }
    const text = latin.decode(bytes);
    if (this.pasting) return this.takePasteEnd(text, bytes, kept);
    const found = /^\x1b\[([0-9:;]*)([~u])/.exec(text);
    if (found === null) {
      if (/^\x1b(?:\[[0-9:;]*)?$/.test(text) && text.length < LONGEST_SEQUENCE) return null;
      this.keep(kept, bytes.subarray(0, 1));
      return 1;
    }
    const sequence = bytes.subarray(0, found[0].length);
    if (isDetachKey(found[1]!, found[2]!)) this.press(kept, sequence);
    else this.keep(kept, sequence);
    if (found[1]! + found[2]! === PASTE_BEGIN) this.pasting = !this.pressed;
    return sequence.length;
  }

  private takePasteEnd(text: string, bytes: Uint8Array, kept: Uint8Array[]): number | null {
    if (text.length < PASTE_END.length && PASTE_END.startsWith(text)) return null;
    const ends = text.startsWith(PASTE_END);
    if (ends) this.pasting = false;
    const length = ends ? PASTE_END.length : 1;
    this.keep(kept, bytes.subarray(0, length));
    return length;
  }

  private press(kept: Uint8Array[], key: Uint8Array): void {
    if (this.pressed) kept.push(key);
    this.pressed = !this.pressed;
  }
}

/**
 * `Ctrl-\` as keyboards say it that a program has switched to the kitty protocol (`92;5u`, with locks, alternate keys
 * and the kind of event: only its press counts), or to xterm's modifyOtherKeys (`27;5;92~`).
 */
function isDetachKey(params: string, final: string): boolean {
  if (final === "~") return params === "27;5;92";
  const [code = [], modifiers = []] = params.split(";").map((field) => field.split(":").map(Number));
  const locks = 64 | 128;
  const held = ((modifiers[0] || 1) - 1) & ~locks;
  return code[0] === 92 && held === 4 && (modifiers[1] ?? 1) === 1;
}

/** A program's output that no emulator has taken yet, in order, with its end that only flows told apart. */
import { behindControls, endOfFlow } from "./terminal-flow.ts";

const FIRST_BUFFER_BYTES = 4 * 1024;
/** A buffer larger than this is not kept for what may come. */
const KEPT_BUFFER_BYTES = 64 * 1024;

export class Backlog {
  private buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  private used = 0;
  private flowFrom = 0;

  get length(): number {
    return this.used;
  }

  /** How much of it does more than flow, as far as is known. */
  get unflowing(): number {
    return this.flowFrom;
  }

  /** All of it; stands until the next change. */
  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  /** `flowFrom`: the offset in `bytes` behind which no sequence does more than flow. */
  append(bytes: Uint8Array, flowFrom: number): void {
    const needed = this.used + bytes.length;
    if (needed > this.buffer.length) {
      const larger = new Uint8Array(Math.max(needed, this.buffer.length * 2));
      larger.set(this.bytes);
      this.buffer = larger;
    }
    this.buffer.set(bytes, this.used);
    if (flowFrom > 0) this.flowFrom = this.used + flowFrom;
    this.used = needed;
  }

  /** From here on something else counts on what has come so far. */
  mark(): void {
    this.flowFrom = this.used;
  }

  /** Takes single controls into account. `unflowing` is exact from here on, until more comes. */
  lookThrough(): void {
    this.flowFrom += behindControls(this.buffer.subarray(this.flowFrom, this.used));
  }

  /** Forgets the first `count` bytes. */
  drop(count: number): void {
    const rest = this.used - count;
    if (rest === 0 && this.buffer.length > KEPT_BUFFER_BYTES)
      this.buffer = new Uint8Array(FIRST_BUFFER_BYTES);
    else this.buffer.copyWithin(0, count, this.used);
    this.used = rest;
    this.flowFrom = Math.max(0, this.flowFrom - count);
  }

  /** Forgets of the flow all but what its last `lines` lines need. False when it has no more than that. */
  shorten(lines: number): boolean {
    const flow = this.buffer.subarray(this.flowFrom, this.used);
    const end = endOfFlow(flow, lines);
    if (end === null || end.length >= flow.length) return false;
    this.buffer.set(end, this.flowFrom);
    this.used = this.flowFrom + end.length;
    return true;
  }
}

/**
 * Standard output that never blocks the process: what is to be shown waits here while the kernel has no room, in order,
 * and signals are still taken.
 */
import { write } from "node:fs";
import { errnoOf } from "../errors.ts";

const RETRY_MS = 2;
/** Given to the kernel at once. */
const WRITE_BYTES = 64 * 1024;

export class PumpedOutput {
  private readonly descriptor: number;
  private readonly written: (bytes: Uint8Array) => void;
  private queue: Uint8Array[] = [];
  private pumping: Promise<void> | null = null;
  private isClosed = false;
  private close: () => void = () => {};
  /** Bytes that wait. */
  waiting = 0;
  /** Resolves when nobody reads any more: what follows is dropped. */
  readonly closed: Promise<void>;

  /** `written` is called with what goes out, before it does. */
  constructor(descriptor: number, written: (bytes: Uint8Array) => void) {
    this.descriptor = descriptor;
    this.written = written;
    this.closed = new Promise((resolve) => {
      this.close = resolve;
    });
  }

  /** Takes bytes, which must not change afterwards. A piece goes out whole or, by `discard`, not at all. */
  push(bytes: Uint8Array): void {
    if (this.isClosed || bytes.length === 0) return;
    this.queue.push(bytes);
    this.waiting += bytes.length;
    this.pumping ??= this.pump();
  }

  /** Resolves when everything is with the kernel, or nobody reads any more. */
  async drained(): Promise<void> {
    while (this.pumping !== null) await this.pumping;
  }

  /** Forgets what waits, but for what is under way. */
  discard(): void {
    this.queue = [];
    this.waiting = 0;
  }

  /** Calls `notify` whenever less waits than before. */
  onProgress: () => void = () => {};

  private async pump(): Promise<void> {
    for (let piece = this.nextPiece(); piece !== null; piece = this.nextPiece()) {
      this.written(piece);
      if (!(await this.writeWhole(piece))) {
        this.isClosed = true;
        this.discard();
        this.close();
      }
      this.onProgress();
    }
    this.pumping = null;
  }

  /** As many whole pieces as fit into one write, at least one. */
  private nextPiece(): Uint8Array | null {
    let count = 0;
    let size = 0;
    while (count < this.queue.length && (count === 0 || size + this.queue[count]!.length <= WRITE_BYTES))
      size += this.queue[count++]!.length;
    if (count === 0) return null;
    const pieces = this.queue.splice(0, count);
    this.waiting -= size;
    return count === 1 ? pieces[0]! : Buffer.concat(pieces, size);
  }

  private async writeWhole(bytes: Uint8Array): Promise<boolean> {
    for (let offset = 0; offset < bytes.length; ) {
      const taken = await writeOnce(this.descriptor, bytes.subarray(offset));
      if (taken === "gone") return false;
      if (taken === "full") await Bun.sleep(RETRY_MS);
      else offset += taken;
    }
    return true;
  }
}

/** `full`: a descriptor that somebody made non-blocking has no room; `gone`: nobody reads it any more. */
function writeOnce(descriptor: number, bytes: Uint8Array): Promise<number | "full" | "gone"> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (error, count) => {
      const code = errnoOf(error);
      if (error === null) resolve(count);
      else if (code === "EAGAIN") resolve("full");
      else if (code === "EPIPE" || code === "EIO" || code === "EBADF") resolve("gone");
      else reject(error);
    });
  });
}

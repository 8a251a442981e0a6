/** One client's connection, as its host sees it: frames in, frames out, and never more in memory than the bounds below. */
import { encodeHostMessage, type Frame, FrameDecoder, type HostMessage, type Size } from "../protocol.ts";

/** Output that waits for a client; beyond it the program waits too, as long as the client reads. */
export const BEHIND_BYTES = 2 * 1024 * 1024;
/** One who took nothing for so long does not read: its output is dropped, and a fresh screen follows when it does. */
const STALL_MS = 400;
/** Nor is one waited for any longer who reads this slowly. */
const WAIT_MS = 2_000;
const RETRY_MS = 1;
/** Output that waits for a client, however it came to that; beyond it the output is dropped, too. */
const STALE_BYTES = 2 * BEHIND_BYTES;
/** Anything else that waits for a client; beyond it the connection is dropped. */
export const DROP_BYTES = 8 * 1024 * 1024;

export type ConnectionSocket = Bun.Socket<Connection>;

/** `plain`: has said nothing of itself, or only asked. */
export type Role = "plain" | "attached" | "peek";

interface Queued {
  bytes: Uint8Array;
  /** Output, which a fresh screen makes up for. */
  readonly output: boolean;
}

export class Connection {
  role: Role = "plain";
  /** A supervisor's. */
  watching = false;
  /** Asked for by an attached client; null counts for nothing. */
  size: Size | null = null;
  /** Input stopped until the program takes what is outstanding. */
  paused = false;
  /** Frames for a client whose screen is being made; null when it has its screen or wants none. */
  private awaiting: Uint8Array[] | null = null;
  private following = false;
  /** Output is left out until a sequence that began before its screen has ended. */
  private skipping = false;
  private stale = false;
  private queue: Queued[] = [];
  private queuedBytes = 0;
  private closed = false;
  private readonly decoder = new FrameDecoder();
  private readonly socket: ConnectionSocket;
  private readonly onCaughtUp: (connection: Connection) => void;

  /** `onCaughtUp` is called when a client that had lost output reads again: it is owed a screen. */
  constructor(socket: ConnectionSocket, onCaughtUp: (connection: Connection) => void) {
    this.socket = socket;
    this.onCaughtUp = onCaughtUp;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Whether everything for this client has been handed to the kernel. */
  get isFlushed(): boolean {
    return this.closed || this.queue.length === 0;
  }

  /** The frames that these bytes complete; a client that breaks the protocol is dropped. */
  receive(bytes: Uint8Array): Frame[] {
    const frames = this.decoder.push(bytes);
    if (frames !== "too long") return frames;
    this.drop();
    return [];
  }

  /** From here on output is kept back, until `deliverScreen`. */
  awaitScreen(atBoundary: boolean): void {
    this.awaiting = [];
    this.following = true;
    this.skipping = !atBoundary;
  }

  deliverScreen(screen: Uint8Array): void {
    const frames = this.awaiting ?? [];
    this.awaiting = null;
    this.send({ kind: "screen", bytes: screen });
    for (const frame of frames) this.push(frame, true);
  }

  /** Output of the program; `frame` is `bytes` as a DATA frame, shared by all clients. */
  output(bytes: Uint8Array, frame: Uint8Array, firstBoundary: number): void {
    if (!this.following || this.stale || this.closed) return;
    let mine = frame;
    if (this.skipping) {
      if (firstBoundary < 0) return;
      this.skipping = false;
      if (firstBoundary > 0) mine = encodeHostMessage({ kind: "data", bytes: bytes.subarray(firstBoundary) });
    }
    if (this.awaiting !== null) this.awaiting.push(mine);
    else this.push(mine, true);
  }

  send(message: HostMessage): void {
    this.push(encodeHostMessage(message), false);
  }

  /** The socket takes bytes again. */
  drained(): void {
    this.flush();
    if (!this.stale || this.queue.length > 0 || this.closed) return;
    this.stale = false;
    this.onCaughtUp(this);
  }

  /**
   * Returns when this client is no longer far behind, or when it turned out not to read. Until then the program gets rid
   * of no output: that is how it is slowed down to those who look on.
   */
  waitForRoom(): void {
    if (this.stale || this.queuedBytes <= BEHIND_BYTES) return;
    const began = performance.now();
    let taken = began;
    while (this.queuedBytes > BEHIND_BYTES / 2) {
      const before = this.queuedBytes;
      this.flush();
      if (this.closed) return;
      const now = performance.now();
      if (this.queuedBytes < before) taken = now;
      if (now - taken > STALL_MS || now - began > WAIT_MS) {
        this.becomeStale();
        return;
      }
      if (taken !== now) Bun.sleepSync(RETRY_MS);
    }
  }

  /** Stops or continues reading this client's input. */
  pause(paused: boolean): void {
    if (this.paused === paused || this.closed) return;
    this.paused = paused;
    if (paused) this.socket.pause();
    else this.socket.resume();
  }

  /** A paused socket does not tell that its peer has gone; writing does. */
  probe(): void {
    this.send({ kind: "data", bytes: new Uint8Array(0) });
  }

  /** Closes after what has been handed over. */
  end(): void {
    this.closed = true;
    this.socket.end();
  }

  drop(): void {
    this.markClosed();
    this.socket.terminate();
  }

  markClosed(): void {
    this.closed = true;
    this.following = false;
    this.queue = [];
    this.queuedBytes = 0;
    this.awaiting = null;
  }

  /** Hands over what the kernel takes. */
  private flush(): void {
    let whole = 0;
    for (const queued of this.queue) {
      const taken = this.socket.write(queued.bytes);
      if (taken < 0) {
        this.drop();
        return;
      }
      this.queuedBytes -= taken;
      if (taken < queued.bytes.length) {
        queued.bytes = queued.bytes.subarray(taken);
        break;
      }
      whole += 1;
    }
    this.queue.splice(0, whole);
  }

  private push(frame: Uint8Array, output: boolean): void {
    if (this.closed) return;
    let rest = frame;
    if (this.queue.length === 0) {
      const taken = this.socket.write(frame);
      if (taken < 0) {
        this.drop();
        return;
      }
      if (taken === frame.length) return;
      rest = frame.subarray(taken);
    }
    this.queue.push({ bytes: rest, output: output && rest.length === frame.length });
    this.queuedBytes += rest.length;
    if (output && this.queuedBytes > STALE_BYTES) this.becomeStale();
    if (this.queuedBytes > DROP_BYTES) this.drop();
  }

  /** Forgets the output that waits, all but what the kernel has part of. */
  private becomeStale(): void {
    this.stale = true;
    this.queue = this.queue.filter(({ output }, index) => index === 0 || !output);
    this.queuedBytes = this.queue.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

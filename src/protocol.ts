/**
 * The socket protocol between a session host and its clients: pty's frames (docs/protocol.md).
 * A frame is one byte of type, four bytes of big-endian length, and the payload.
 */

export const FRAME = {
  data: 0,
  attach: 1,
  detach: 2,
  resize: 3,
  exit: 4,
  screen: 5,
  peek: 6,
  status: 7,
  geometry: 10,
  /** Ours: "this connection is a supervisor's; while one is open the host runs no timer of its own". */
  watch: 32,
} as const;

export const HEADER_BYTES = 5;
/** A longer frame is refused and its connection dropped. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

export interface Frame {
  readonly type: number;
  readonly payload: Uint8Array;
}

export interface Size {
  readonly rows: number;
  readonly cols: number;
}

/** What a client says to a host. */
export type ClientMessage =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "attach"; readonly size: Size }
  | { readonly kind: "resize"; readonly size: Size }
  | { readonly kind: "peek"; readonly plain: boolean; readonly full: boolean }
  | { readonly kind: "detach" }
  /** Brief: without what only an emulator knows, so that no host loads one for the asking; convoy's own. */
  | { readonly kind: "status"; readonly brief: boolean }
  | { readonly kind: "watch" };

/** What a host says to a client. */
export type HostMessage =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "screen"; readonly bytes: Uint8Array }
  | { readonly kind: "exit"; readonly exitCode: number }
  | { readonly kind: "geometry"; readonly size: Size }
  | { readonly kind: "status"; readonly text: string };

const EMPTY = new Uint8Array(0);
const utf8 = new TextDecoder();

/** One frame as bytes. */
export function encodeFrame(type: number, payload: Uint8Array = EMPTY): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  bytes[0] = type;
  new DataView(bytes.buffer).setUint32(1, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/** A client's message as one frame. */
export function encodeClientMessage(message: ClientMessage): Uint8Array {
  switch (message.kind) {
    case "data":
      return encodeFrame(FRAME.data, message.bytes);
    case "attach":
      return encodeFrame(FRAME.attach, encodeSize(message.size));
    case "resize":
      return encodeFrame(FRAME.resize, encodeSize(message.size));
    case "peek":
      return encodeFrame(FRAME.peek, Uint8Array.of((message.plain ? 1 : 0) | (message.full ? 2 : 0)));
    case "detach":
      return encodeFrame(FRAME.detach);
    case "status":
      return encodeFrame(FRAME.status, message.brief ? Uint8Array.of(1) : EMPTY);
    case "watch":
      return encodeFrame(FRAME.watch);
  }
}

/** A host's message as one frame. */
export function encodeHostMessage(message: HostMessage): Uint8Array {
  switch (message.kind) {
    case "data":
      return encodeFrame(FRAME.data, message.bytes);
    case "screen":
      return encodeFrame(FRAME.screen, message.bytes);
    case "exit": {
      const payload = new Uint8Array(4);
      new DataView(payload.buffer).setInt32(0, message.exitCode);
      return encodeFrame(FRAME.exit, payload);
    }
    case "geometry":
      return encodeFrame(FRAME.geometry, encodeSize(message.size));
    case "status":
      return encodeFrame(FRAME.status, new TextEncoder().encode(message.text));
  }
}

/** What a client's frame means; null for a type or a payload that is not understood (it is ignored). */
export function parseClientMessage({ type, payload }: Frame): ClientMessage | null {
  switch (type) {
    case FRAME.data:
      return { kind: "data", bytes: payload };
    case FRAME.attach:
    case FRAME.resize: {
      const size = parseSize(payload);
      return size === null ? null : { kind: type === FRAME.attach ? "attach" : "resize", size };
    }
    case FRAME.peek: {
      const bits = payload[0] ?? 0;
      return { kind: "peek", plain: (bits & 1) !== 0, full: (bits & 2) !== 0 };
    }
    case FRAME.detach:
      return { kind: "detach" };
    case FRAME.status:
      return { kind: "status", brief: ((payload[0] ?? 0) & 1) !== 0 };
    case FRAME.watch:
      return { kind: "watch" };
    default:
      return null;
  }
}

/** What a host's frame means; null for a type or a payload that is not understood (it is ignored). */
export function parseHostMessage({ type, payload }: Frame): HostMessage | null {
  switch (type) {
    case FRAME.data:
      return { kind: "data", bytes: payload };
    case FRAME.screen:
      return { kind: "screen", bytes: payload };
    case FRAME.exit:
      return payload.length < 4 ? null : { kind: "exit", exitCode: viewOf(payload).getInt32(0) };
    case FRAME.geometry: {
      const size = parseSize(payload);
      return size === null ? null : { kind: "geometry", size };
    }
    case FRAME.status:
      return { kind: "status", text: utf8.decode(payload) };
    default:
      return null;
  }
}

/** Cuts a byte stream into frames, however the stream was split. */
export class FrameDecoder {
  private chunks: Uint8Array[] = [];
  private buffered = 0;

  /**
   * Takes the next bytes; gives the frames that they complete, or "too long" when a frame over
   * `MAX_FRAME_BYTES` was announced: the connection is to be dropped and the decoder not used again.
   */
  push(bytes: Uint8Array): Frame[] | "too long" {
    if (bytes.length > 0) this.chunks.push(bytes);
    this.buffered += bytes.length;
    const frames: Frame[] = [];
    while (this.buffered >= HEADER_BYTES) {
      const header = this.gather(HEADER_BYTES);
      const length = viewOf(header).getUint32(1);
      if (length > MAX_FRAME_BYTES) return "too long";
      if (this.buffered < HEADER_BYTES + length) break;
      const whole = this.gather(HEADER_BYTES + length);
      frames.push({ type: whole[0]!, payload: whole.slice(HEADER_BYTES, HEADER_BYTES + length) });
      this.discard(HEADER_BYTES + length);
    }
    return frames;
  }

  /** The first chunk, joined with as many of those that follow as `count` bytes need. */
  private gather(count: number): Uint8Array {
    const first = this.chunks[0]!;
    if (first.length >= count) return first;
    let taken = 0;
    let size = 0;
    while (size < count) size += this.chunks[taken++]!.length;
    const joined = new Uint8Array(size);
    let offset = 0;
    for (const chunk of this.chunks.splice(0, taken)) {
      joined.set(chunk, offset);
      offset += chunk.length;
    }
    this.chunks.unshift(joined);
    return joined;
  }

  private discard(count: number): void {
    const rest = this.chunks[0]!.subarray(count);
    if (rest.length === 0) this.chunks.shift();
    else this.chunks[0] = rest;
    this.buffered -= count;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function encodeSize(size: Size): Uint8Array {
  const payload = new Uint8Array(4);
  const view = new DataView(payload.buffer);
  view.setUint16(0, size.rows);
  view.setUint16(2, size.cols);
  return payload;
}

function parseSize(payload: Uint8Array): Size | null {
  if (payload.length < 4) return null;
  const view = viewOf(payload);
  return { rows: view.getUint16(0), cols: view.getUint16(2) };
}

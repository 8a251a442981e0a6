import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ClientMessage,
  encodeClientMessage,
  encodeFrame,
  encodeHostMessage,
  type Frame,
  FrameDecoder,
  type HostMessage,
  MAX_FRAME_BYTES,
  parseClientMessage,
  parseHostMessage,
} from "./protocol.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

function decodeAll(stream: Uint8Array): Frame[] {
  const frames = new FrameDecoder().push(stream);
  if (frames === "too long") throw new Error("refused");
  return frames;
}

describe("bytes on the wire", () => {
  const table: [ClientMessage, Uint8Array][] = [
    [{ kind: "data", bytes: bytes(104, 105) }, bytes(0, 0, 0, 0, 2, 104, 105)],
    [{ kind: "attach", size: { rows: 24, cols: 300 } }, bytes(1, 0, 0, 0, 4, 0, 24, 1, 44)],
    [{ kind: "detach" }, bytes(2, 0, 0, 0, 0)],
    [{ kind: "resize", size: { rows: 50, cols: 80 } }, bytes(3, 0, 0, 0, 4, 0, 50, 0, 80)],
    [{ kind: "peek", plain: true, full: false }, bytes(6, 0, 0, 0, 1, 1)],
    [{ kind: "peek", plain: true, full: true }, bytes(6, 0, 0, 0, 1, 3)],
    [{ kind: "status", brief: false }, bytes(7, 0, 0, 0, 0)],
    [{ kind: "watch" }, bytes(32, 0, 0, 0, 0)],
  ];
  test.each(table)("client %j", (message, wire) => {
    expect(encodeClientMessage(message)).toEqual(wire);
    expect(decodeAll(wire).map(parseClientMessage)).toEqual([message]);
  });

  const hostTable: [HostMessage, Uint8Array][] = [
    [{ kind: "exit", exitCode: 137 }, bytes(4, 0, 0, 0, 4, 0, 0, 0, 137)],
    [{ kind: "exit", exitCode: -1 }, bytes(4, 0, 0, 0, 4, 255, 255, 255, 255)],
    [{ kind: "screen", bytes: bytes(65) }, bytes(5, 0, 0, 0, 1, 65)],
    [{ kind: "data", bytes: bytes(66) }, bytes(0, 0, 0, 0, 1, 66)],
    [{ kind: "status", text: "{}" }, bytes(7, 0, 0, 0, 2, 123, 125)],
    [{ kind: "geometry", size: { rows: 1, cols: 2 } }, bytes(10, 0, 0, 0, 4, 0, 1, 0, 2)],
  ];
  test.each(hostTable)("host %j", (message, wire) => {
    expect(encodeHostMessage(message)).toEqual(wire);
    expect(decodeAll(wire).map(parseHostMessage)).toEqual([message]);
  });

  test("what is not understood is null", () => {
    expect(parseClientMessage({ type: 99, payload: bytes() })).toBeNull();
    expect(parseClientMessage({ type: 1, payload: bytes(0, 24) })).toBeNull();
    expect(parseHostMessage({ type: 4, payload: bytes(0) })).toBeNull();
    expect(parseHostMessage({ type: 200, payload: bytes() })).toBeNull();
  });
});

describe("FrameDecoder", () => {
  const frame = fc.record({ type: fc.nat(255), payload: fc.uint8Array({ maxLength: 40 }) });

  test("any split of the stream decodes equally", () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.nat(60), { maxLength: 40 }),
        (frames, cuts) => {
          const stream = Buffer.concat(frames.map(({ type, payload }) => encodeFrame(type, payload)));
          const decoder = new FrameDecoder();
          const seen: Frame[] = [];
          let offset = 0;
          for (const cut of [...cuts, stream.length]) {
            const end = Math.min(offset + cut, stream.length);
            seen.push(...(decoder.push(Uint8Array.from(stream.subarray(offset, end))) as Frame[]));
            offset = end;
          }
          expect(seen).toEqual(frames);
        },
      ),
    );
  });

  test("an unfinished frame stays for later", () => {
    const decoder = new FrameDecoder();
    expect(decoder.push(bytes(0, 0, 0, 0, 2, 65))).toEqual([]);
    expect(decoder.push(bytes(66, 7, 0))).toEqual([{ type: 0, payload: bytes(65, 66) }]);
    expect(decoder.push(bytes(0, 0, 0))).toEqual([{ type: 7, payload: bytes() }]);
  });

  test("a frame over the limit is refused as soon as it is announced", () => {
    const over = MAX_FRAME_BYTES + 1;
    const header = bytes(0, over >>> 24, (over >> 16) & 255, (over >> 8) & 255, over & 255);
    expect(new FrameDecoder().push(header)).toBe("too long");
    expect(new FrameDecoder().push(bytes(0, 2, 0, 0, 0))).toEqual([]);
  });
});

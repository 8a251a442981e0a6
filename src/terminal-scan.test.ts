import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  HOLD_BYTES,
  type Scan,
  type Sequence,
  TerminalScanner,
  unfinishedCharacter,
} from "./terminal-scan.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function scanText(...chunks: string[]) {
  const scanner = new TerminalScanner();
  return chunks.map((chunk) => {
    const scan = scanner.scan(encode(chunk));
    return { text: decode(scan.bytes), found: scan.found.map(({ sequence }) => sequence) };
  });
}

describe("what is found", () => {
  const table: [string, Sequence[]][] = [
    ["plain text", []],
    ["\x1b[31mred\x1b[0m", []],
    ["\x1b[c", [{ kind: "csi", params: "", final: "c" }]],
    ["\x1b[>0q", [{ kind: "csi", params: ">0", final: "q" }]],
    ["\x1b[?2026$p", [{ kind: "csi", params: "?2026$", final: "p" }]],
    ["\x1b]11;?\x07", [{ kind: "osc", text: "11;?", terminator: "\x07" }]],
    ["\x1b]11;?\x1b\\", [{ kind: "osc", text: "11;?", terminator: "\x1b\\" }]],
    ["\x1b]2;grün\x07", [{ kind: "osc", text: "2;grün", terminator: "\x07" }]],
    ["\x1bP+q544e\x1b\\", [{ kind: "dcs", text: "+q544e" }]],
    ["\x1bP a\x07b \x1b\\", [{ kind: "dcs", text: " a\x07b " }]],
    ["\x1bc", [{ kind: "reset" }]],
    ["a\x07b\x07", [{ kind: "bell" }, { kind: "bell" }]],
    ["\x1b[3\x1b[6n", [{ kind: "csi", params: "6", final: "n" }]],
    ["\x1b]0;cut\x1b[6n", [{ kind: "csi", params: "6", final: "n" }]],
    ["\x1b[3\x18c\x1b(B\x1b[5n", [{ kind: "csi", params: "5", final: "n" }]],
    ["\x1b_apc [6n\x1b\\", []],
  ];
  test.each(table)("%j", (text, found) => {
    expect(scanText(text)).toEqual([{ text, found }]);
  });
});

describe("where it cuts", () => {
  const table: [string[], string[]][] = [
    [
      ["ab\x1b", "[3", "1mc"],
      ["ab", "", "\x1b[31mc"],
    ],
    [
      ["x\x1b]2;ti", "tle\x1b", "\\y"],
      ["x", "", "\x1b]2;title\x1b\\y"],
    ],
    [
      ["\x1b(", "Bz"],
      ["", "\x1b(Bz"],
    ],
  ];
  test.each(table)("%j", (chunks, texts) => {
    expect(scanText(...chunks).map(({ text }) => text)).toEqual(texts);
  });

  test("a character is never cut", () => {
    const scanner = new TerminalScanner();
    const pieces = [...encode("a│😀é")].map((byte) => decode(scanner.scan(Uint8Array.of(byte)).bytes));
    expect(pieces).toEqual(["a", "", "", "│", "", "", "", "😀", "", "é"]);
  });

  test.each([
    [[0x61], 0],
    [[0xe2], 1],
    [[0xe2, 0x94], 2],
    [[0xe2, 0x94, 0x82], 0],
    [[0xf0, 0x9f, 0x98], 3],
    [[0x80, 0x80, 0x80], 0],
    [[0xff], 0],
    [[0xc3, 0x61], 0],
    [[0xc0], 0],
  ])("unfinished bytes at the end of %j: %d", (bytes, count) => {
    expect(unfinishedCharacter(Uint8Array.from(bytes))).toBe(count);
  });

  test("an overlong sequence is passed on as it comes, and its end is told", () => {
    const scanner = new TerminalScanner();
    const all = (text: string, members: Pick<Scan, "firstBoundary" | "drawn"> & Partial<Scan>): Scan => ({
      bytes: encode(text),
      found: [],
      flowFrom: text.length,
      ...members,
    });
    const long = `a\x1b]2;${"x".repeat(HOLD_BYTES)}`;
    expect(scanner.scan(encode(long))).toEqual(all(long, { firstBoundary: 0, drawn: { from: 0, to: 1 } }));
    expect(scanner.atBoundary).toBe(false);
    expect(scanner.scan(encode("more"))).toEqual(
      all("more", { firstBoundary: -1, drawn: { from: 4, to: 4 } }),
    );
    expect(scanner.scan(encode("end\x07after\x1b["))).toEqual(
      all("end\x07after", { firstBoundary: 4, drawn: { from: 4, to: 9 }, flowFrom: 4 }),
    );
    expect(scanner.atBoundary).toBe(true);
  });
});

describe("from where on it flows", () => {
  const table: [string, number][] = [
    ["lines\r\n\x1b[m\x1b[1;38:5:7mcolour\x1b[K\x1b[2K\x1b(B\x1b]0;title\x07\x1b]2;t\x1b\\\x07", 0],
    ["a\x1b[Hb", 4],
    ["a\x1b[2;3rb", 7],
    ["a\x1b[>4mb", 6],
    ["a\x1b[?1Kb", 6],
    ["a\x1b[1 mb", 6],
    ["a\x1b(0b", 4],
    ["a\x1b)Bb", 4],
    ["a\x1bcb", 3],
    ["a\x1b[3\rmb", 6],
    ["a\x1b]8;;x\x07b", 8],
    ["a\x1b]10;?\x07b", 8],
    ["a\x1bPq\x1b\\b", 6],
    ["a\x1b[H\x1b[31mb\x1b[", 4],
  ];
  test.each(table)("%j", (text, from) => {
    expect(new TerminalScanner().scan(encode(text)).flowFrom).toBe(from);
  });
});

test.each([
  ["\x1b[6nx", 0],
  ["y\x1b[6nx", 1],
])("one that is cut off by the next, %j, wherever that begins", (rest, at) => {
  for (const cut of [0, 1, 2, 3]) {
    const scanner = new TerminalScanner();
    const scans = [`\x1b]2;${"x".repeat(HOLD_BYTES)}`, rest.slice(0, cut), rest.slice(cut)].map((text) =>
      scanner.scan(encode(text)),
    );
    const drawn = scans.map(({ bytes, drawn: { from, to } }) => decode(bytes.subarray(from, to))).join("");
    const found = scans.flatMap((scan) => scan.found.map(({ sequence }) => sequence));
    const passed = decode(Buffer.concat(scans.map(({ bytes }) => bytes))).slice(HOLD_BYTES + 4);
    expect({ cut, drawn, found, passed }).toEqual({
      cut,
      drawn: rest.slice(at),
      found: [{ kind: "csi", params: "6", final: "n" }],
      passed: rest,
    });
    expect(scanner.atBoundary).toBe(true);
  }
});

const piece = fc.oneof(
  fc.constantFrom(
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x1bP",
    "\x1b\\",
    "\x07",
    "\x18",
    "6n",
    "?25h",
    "c",
    "│",
    "😀",
    "0;t",
    "\r\n",
  ),
  fc.string({ maxLength: 4 }),
);

test("any split finds the same and passes on the same bytes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(piece.map(encode), fc.uint8Array({ maxLength: 3 })), { maxLength: 20 }),
      fc.array(fc.nat(6), { maxLength: 60 }),
      (pieces, cuts) => {
        const stream = Uint8Array.from(Buffer.concat(pieces));
        const run = (ends: number[]) => {
          const scanner = new TerminalScanner();
          const found: { sequence: Sequence; at: number }[] = [];
          const out: Uint8Array[] = [];
          let flowFrom = 0;
          let offset = 0;
          let passed = 0;
          for (const end of ends) {
            const scan = scanner.scan(stream.slice(offset, end));
            for (const { sequence, end: at } of scan.found) found.push({ sequence, at: passed + at });
            if (scan.flowFrom > 0) flowFrom = passed + scan.flowFrom;
            passed += scan.bytes.length;
            out.push(scan.bytes);
            offset = end;
          }
          out.push(scanner.flush().bytes);
          return { found, flowFrom, bytes: Buffer.concat(out) };
        };
        let end = 0;
        const ends = cuts.map((cut) => (end = Math.min(stream.length, end + cut)));
        const whole = run([stream.length]);
        expect(run([...ends, stream.length])).toEqual(whole);
        expect(whole.bytes.equals(stream)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { DetachScanner, DOUBLE_MS, SEQUENCE_MS } from "./detach-scanner.ts";

/** What comes of the pieces, one `push` each, and of `expire` at the end. */
function type(...pieces: readonly string[]) {
  const scanner = new DetachScanner();
  const results = pieces.map((piece) => scanner.push(Buffer.from(piece, "latin1")));
  const last = scanner.expire();
  const bytes = [...results, last].map((one) => Buffer.from(one.bytes).toString("latin1"));
  return { sent: bytes.join(""), detach: last.detach, waitMs: results.at(-1)!.waitMs };
}

test.each<[string, string, boolean, number | null]>([
  ["ls\r", "ls\r", false, null],
  ["\x1c", "", true, DOUBLE_MS],
  ["a\x1c", "a", true, DOUBLE_MS],
  ["a\x1cb", "a", true, DOUBLE_MS],
  ["a\x1c\x1cb", "a\x1cb", false, null],
  ["\x1c\x1c\x1c", "\x1c", true, DOUBLE_MS],
  ["\x1b[92;5u", "", true, DOUBLE_MS],
  ["\x1b[92;133u", "", true, DOUBLE_MS],
  ["\x1b[92:124;5:1u", "", true, DOUBLE_MS],
  ["\x1b[92;5:1u\x1b[92;5:3u", "", true, DOUBLE_MS],
  ["\x1b[92;5:2u", "\x1b[92;5:2u", false, null],
  ["\x1b[92;5u\x1b[92;5u", "\x1b[92;5u", false, null],
  ["\x1b[27;5;92~", "", true, DOUBLE_MS],
  ["\x1b[92;7u", "\x1b[92;7u", false, null],
  ["\x1b[92u", "\x1b[92u", false, null],
  ["\x1b[97;5u", "\x1b[97;5u", false, null],
  ["\x1b", "\x1b", false, SEQUENCE_MS],
  ["\x1b[", "\x1b[", false, SEQUENCE_MS],
  ["\x1b[A\x1bOB\x1b[<35;1;2M", "\x1b[A\x1bOB\x1b[<35;1;2M", false, null],
  ["\x1b[200~a\x1cb\x1b[201~c", "\x1b[200~a\x1cb\x1b[201~c", false, null],
  ["\x1b[200~a\x1b[201~\x1c", "\x1b[200~a\x1b[201~", true, DOUBLE_MS],
  ["\xc3", "\xc3", false, SEQUENCE_MS],
  ["\xff\xfe\x80", "\xff\xfe\x80", false, null],
])("%j", (typed, sent, detach, waitMs) => {
  expect(type(typed)).toEqual({ sent, detach, waitMs });
  expect(type(...typed)).toEqual({ sent, detach, waitMs });
});

test("a character that two reads share goes out whole", () => {
  const scanner = new DetachScanner();
  const pieces = [Buffer.from([0x61, 0xe2, 0x94]), Buffer.from([0x80, 0x62])];
  expect(pieces.map((piece) => Buffer.from(scanner.push(piece).bytes).toString("latin1"))).toEqual([
    "a",
    "\xe2\x94\x80b",
  ]);
});

test("however it is split, the same comes out; without the key nothing is lost", () => {
  const piece = fc.constantFrom(
    "a",
    "\x1b",
    "[",
    "92;5u",
    "\x1c",
    "\x1b[92;5u",
    "\x1b[200~",
    "\x1b[201~",
    "é",
  );
  const typed = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(typed, fc.array(fc.nat(40), { maxLength: 6 }), (text, cuts) => {
      const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
      const whole = type(text);
      const split = type(...pieces);
      expect([split.sent, split.detach]).toEqual([whole.sent, whole.detach]);
      if (!/\x1c|\x1b\[92;5u/.test(text)) expect(whole.sent).toBe(text);
    }),
  );
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { PASTE_BEGIN, PASTE_END, TypedText } from "./typed-text.ts";

function pass(pieces: readonly Uint8Array[], pasted: boolean): Buffer[] {
  const text = new TypedText(pasted);
  const out = pieces.map((piece) => Buffer.from(text.push(piece)));
  return [...out, Buffer.from(text.finish())];
}

test("characters are not cut where the text was", () => {
  const [first, second, rest] = pass(
    [Buffer.from("a€").subarray(0, 2), Buffer.from("€b").subarray(1)],
    false,
  );
  expect([`${first}`, `${second}`, `${rest}`]).toEqual(["a", "€b", ""]);
  expect(pass([Buffer.from([0x61, 0xe2])], false)).toEqual([Buffer.from("a"), Buffer.from([0xe2])]);
});

test("pasted text cannot end its paste", () => {
  const table: [string, string][] = [
    ["plain", "plain"],
    [`a${PASTE_END}rm\r`, "a␛[201~rm\r"],
    [`${PASTE_END}${PASTE_END}`, "␛[201~␛[201~"],
    [`\x1b[20${PASTE_END}1~`, "\x1b[20␛[201~1~"],
    [`${PASTE_BEGIN}x`, `${PASTE_BEGIN}x`],
    ["\x1b[201", "\x1b[201"],
    ["\x1b\x1b[201~x", "\x1b␛[201~x"],
  ];
  for (const [text, wanted] of table)
    expect(Buffer.concat(pass([Buffer.from(text)], true)).toString()).toBe(wanted);
});

test("however it is split, the same goes out, and no end of a paste is in it", () => {
  const piece = fc.constantFrom("\x1b", "[", "2", "0", "1", "~", "a", "é", "🙂", PASTE_END, "\x1b[20");
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(8)), (words, cuts) => {
      const bytes = Buffer.from(words.join(""));
      const pieces: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      pieces.push(bytes.subarray(at));
      expect(Buffer.concat(pass(pieces, false))).toEqual(bytes);
      const pasted = Buffer.concat(pass(pieces, true)).toString();
      expect(pasted).toBe(Buffer.concat(pass([bytes], true)).toString());
      expect(pasted).not.toContain(PASTE_END);
    }),
  );
});

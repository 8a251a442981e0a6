import { expect, test } from "bun:test";
import { TerminalModes } from "./terminal-modes.ts";
import { replyTo } from "./terminal-queries.ts";
import { TerminalScanner } from "./terminal-scan.ts";

/** Everything that is written back for `output`, the cursor being at row 3, column 7. */
function answers(output: string): string {
  const modes = new TerminalModes();
  let text = "";
  for (const { sequence } of new TerminalScanner().scan(new TextEncoder().encode(output)).found) {
    modes.apply(sequence);
    const reply = replyTo(sequence, { rows: 24, cols: 80, modes, version: "1.2.3" });
    text += typeof reply === "function" ? reply({ row: 3, col: 7 }) : (reply ?? "");
  }
  return text;
}

test.each([
  ["\x1b[c", "\x1b[?62;22c"],
  ["\x1b[0c", "\x1b[?62;22c"],
  ["\x1b[>c", "\x1b[>0;276;0c"],
  ["\x1b[>0c", "\x1b[>0;276;0c"],
  ["\x1b[5n", "\x1b[0n"],
  ["\x1b[6n", "\x1b[3;7R"],
  ["\x1b[?6n", "\x1b[?3;7;1R"],
  ["\x1b[>q", "\x1bP>|convoy(1.2.3)\x1b\\"],
  ["\x1b[>0q", "\x1bP>|convoy(1.2.3)\x1b\\"],
  ["\x1b[18t", "\x1b[8;24;80t"],
  ["\x1b[?u", "\x1b[?0u"],
  ["\x1b[>5u\x1b[?u", "\x1b[?5u"],
  ["\x1b[>5u\x1b[<u\x1b[?u", "\x1b[?0u"],
  ["\x1b[>1u\x1b[=6;2u\x1b[?u", "\x1b[?7u"],
  ["\x1b[?2004$p", "\x1b[?2004;2$y"],
  ["\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"],
  ["\x1b[?25$p", "\x1b[?25;1$y"],
  ["\x1b[?4711$p", "\x1b[?4711;0$y"],
  ["\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"],
  ["\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"],
  ["\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"],
  [
    "\x1b]4;16;?;231;?;255;?\x07",
    "\x1b]4;16;rgb:0000/0000/0000\x07\x1b]4;231;rgb:ffff/ffff/ffff\x07\x1b]4;255;rgb:eeee/eeee/eeee\x07",
  ],
  ["\x1bP$q q\x1b\\", "\x1bP0$r\x1b\\"],
  ["\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"],
  ["\x1b[31mhello\x1b]0;title\x07\x07\x1b[4;999;?", ""],
  ["\x1b]11;#102030\x07\x1b]4;300;?\x07", ""],
])("%j is answered", (output, reply) => {
  expect(answers(output)).toBe(reply);
});

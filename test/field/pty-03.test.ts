/** PTY-03: characters stay whole wherever a read cuts them, live and in every screen that is drawn meanwhile. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { inShell, PersonTerminal } from "../e2e/terminal.ts";
import { BINARY, Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const SIZE = 200_000;
const LAST = "the last line";
const REPLACEMENT = "\ufffd";

/** Puts what the agent prints, one byte per write, once a key is pressed. */
async function start(bytes: Buffer): Promise<void> {
  const file = field.put("print", bytes);
  field.declare("a");
  field.behave(
    "box.a",
    `stty raw -echo; printf ready; dd bs=1 count=1 of=/dev/null 2>/dev/null; dd if=${file} bs=1 2>/dev/null`,
  );
  expect((await field.once()).code).toBe(0);
}

async function attach(wanted: string): Promise<PersonTerminal> {
  const command = inShell([BINARY, "attach", "a", "--network", field.network]);
  const terminal = new PersonTerminal({ command, env: field.environment(), cwd: field.root });
  await terminal.shows(wanted);
  return terminal;
}

async function leave(terminal: PersonTerminal): Promise<void> {
  terminal.type("\x1c");
  await terminal.shows("code 0.");
  await terminal.ended();
}

function boxLines(): string {
  let text = "";
  for (let line = 0; Buffer.byteLength(text) < SIZE; line += 1)
    text += `│${"─".repeat(20)}┤ \x1b[3${line % 8}m█👍🏽 é漢字 ${line} 🙂│\x1b[0m\r\n`.repeat(20);
  return text + LAST;
}

test(
  "box lines and emoji, one byte per write",
  async () => {
    const text = boxLines();
    await start(Buffer.from(text));
    const terminal = await attach("ready");
    terminal.type("x");
    await terminal.shows("█👍🏽");
    for (let look = 0; look < 4; look++) {
      const again = await attach("█");
      const peeked = await field.convoy(["peek", "a", "--full", "--network", field.network]);
      await leave(again);
      expect(peeked.code).toBe(0);
      for (const shown of [again.text, peeked.stdout]) expect(shown).not.toContain(REPLACEMENT);
    }
    await terminal.shows(LAST);
    expect(terminal.shown.includes(text)).toBe(true);
    const after = await attach(LAST);
    await leave(after);
    expect(after.text).not.toContain(REPLACEMENT);
    await leave(terminal);
  },
  TEST_MS,
);

test(
  "bytes that are no characters go through as they are",
  async () => {
    const wrong = [[0xff], [0xe2, 0x82], [0xc0, 0xaf], [0xf0, 0x9f, 0x99], [0x80], [0xed, 0xa0, 0x80]];
    const pieces: Buffer[] = [];
    for (let line = 0; line < 1_000; line++)
      pieces.push(
        Buffer.from(`${line} é🙂`),
        Buffer.from(wrong[line % wrong.length]!),
        Buffer.from("x─\r\n"),
      );
    const bytes = Buffer.concat([...pieces, Buffer.from(LAST)]);
    await start(bytes);
    const terminal = await attach("ready");
    terminal.type("x");
    await terminal.shows(LAST);
    expect(terminal.shown.includes(bytes)).toBe(true);
    await leave(terminal);
  },
  TEST_MS,
);

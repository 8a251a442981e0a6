/** PTY-04: a terminal is given back with no mode left on, and a session's modes are there again for the next one. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Terminal } from "@xterm/headless";
import { inShell, PersonTerminal } from "../e2e/terminal.ts";
import { BINARY, Field, isAlive, kill, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const MODES = "\\033[?1049h\\033[?1000h\\033[?1006h\\033[?1004h\\033[?2004h\\033[?1h\\033[?25l";
const ON = { screen: "alternate", mouse: "vt200", focus: true, paste: true, cursorKeys: true };
const OFF = { screen: "normal", mouse: "none", focus: false, paste: false, cursorKeys: false };

/** What another terminal makes of the same bytes. */
async function modesAfter(bytes: Buffer): Promise<typeof OFF> {
  const judge = new Terminal({ rows: 24, cols: 80, allowProposedApi: true });
  await new Promise<void>((resolve) => judge.write(bytes, resolve));
  const { modes, buffer } = judge;
  return {
    screen: buffer.active.type,
    mouse: modes.mouseTrackingMode,
    focus: modes.sendFocusMode,
    paste: modes.bracketedPasteMode,
    cursorKeys: modes.applicationCursorKeysMode,
  };
}

/** The cursor, and mouse reports in SGR: what the judge does not say. */
function lastSaid(bytes: Buffer, mode: number): string | undefined {
  return [...bytes.toString().matchAll(new RegExp(`\\x1b\\[\\?${mode}([hl])`, "g"))].at(-1)?.[1];
}

async function attach(): Promise<PersonTerminal> {
  const command = inShell([BINARY, "attach", "a", "--network", field.network]);
  const terminal = new PersonTerminal({ command, env: field.environment(), cwd: field.root });
  await terminal.shows("ready");
  await terminal.shows("\x1b[?25l");
  return terminal;
}

const clientPid = (terminal: PersonTerminal) => Number(/pid (\d+)\./.exec(terminal.text)?.[1]);

const WAYS: [string, number, (terminal: PersonTerminal) => void][] = [
  ["the detach key", 0, (terminal) => terminal.type("\x1c")],
  ["TERM", 0, (terminal) => kill(clientPid(terminal), "SIGTERM")],
  ["HUP", 0, (terminal) => kill(clientPid(terminal), "SIGHUP")],
  ["INT", 0, (terminal) => kill(clientPid(terminal), "SIGINT")],
  ["the agent's end", 7, (terminal) => terminal.type("q\r")],
];

test(
  "every way out",
  async () => {
    field.declare("a");
    field.behave("box.a", `printf '${MODES}ready'; read -r line; exit 7`);
    expect((await field.once()).code).toBe(0);
    const [launch] = await field.untilLaunched(1);
    for (const [way, code, go] of WAYS) {
      const terminal = await attach();
      const during = terminal.shown;
      expect([way, await modesAfter(during)]).toEqual([way, ON]);
      expect([lastSaid(during, 25), lastSaid(during, 1006)]).toEqual(["l", "h"]);
      const peeked = await field.convoy(["peek", "a", "--ansi", "--network", field.network]);
      expect(peeked.code).toBe(0);
      expect(peeked.stdout).toContain("ready");
      expect(peeked.stdout).not.toMatch(/\x1b\[\?/);
      go(terminal);
      await terminal.shows(`code ${code}.`);
      await terminal.shows("settings as before.");
      await terminal.ended();
      const after = terminal.shown;
      expect([way, await modesAfter(after)]).toEqual([way, OFF]);
      expect([lastSaid(after, 25), lastSaid(after, 1006)]).toEqual(["h", "l"]);
      expect(isAlive(launch!.pid)).toBe(code === 0);
    }
  },
  TEST_MS,
);

test(
  "the terminal itself is closed",
  async () => {
    field.declare("a");
    field.behave("box.a", `printf '${MODES}ready'`);
    expect((await field.once()).code).toBe(0);
    const [launch] = await field.untilLaunched(1);
    const terminal = await attach();
    const pid = clientPid(terminal);
    terminal.child.terminal!.close();
    await terminal.ended();
    const deadline = performance.now() + 2_000;
    while (isAlive(pid) && performance.now() < deadline) await Bun.sleep(20);
    expect([isAlive(pid), isAlive(launch!.pid)]).toEqual([false, true]);
  },
  TEST_MS,
);

import { describe, expect, test } from "bun:test";
import { SCREEN_LIMITS, Screen } from "./screen.ts";
import { XtermScreen } from "./xterm-screen.ts";

const SIZE = { rows: 5, cols: 20 };
const { scrollbackLines } = SCREEN_LIMITS;
const encode = (text: string) => new TextEncoder().encode(text);

function xterm(output: string, size = SIZE): XtermScreen {
  const screen = new XtermScreen(size, scrollbackLines);
  screen.write(encode(output));
  return screen;
}

describe("XtermScreen", () => {
  test("has parsed what it was given when it returns", () => {
    expect(xterm("a\x1b[31mb\r\nc").cursor()).toEqual({ row: 2, col: 2 });
  });

  test("joins lines that only the width broke", () => {
    expect(xterm(`${"x".repeat(45)}\r\nend`).text(true)).toBe(`${"x".repeat(45)}\nend`);
  });

  test("shows the viewport, and the scrollback only when asked", () => {
    const screen = xterm(Array.from({ length: 10 }, (_, index) => `line ${index}`).join("\r\n"));
    expect(screen.text(false)).toBe("line 5\nline 6\nline 7\nline 8\nline 9");
    expect(screen.text(true).split("\n")[0]).toBe("line 0");
    expect(screen.look(false)).not.toContain("line 4");
    expect(screen.look(true)).toContain("line 4");
  });

  test("keeps a bounded scrollback", () => {
    const lines = Array.from({ length: scrollbackLines * 2 }, (_, index) => `line ${index}\r\n`).join("");
    expect(xterm(lines).text(true).split("\n").length).toBe(scrollbackLines + SIZE.rows - 1);
  });

  test("a replay enters the alternate screen again, a look never does", () => {
    const screen = xterm("shell\x1b[?1049h\x1b[2J\x1b[Hfull screen\x1b[?2004h");
    expect(screen.replay()).toContain("\x1b[?1049h");
    expect(screen.replay()).toContain("\x1b[?2004h");
    for (const look of [screen.look(false), screen.look(true)]) {
      expect(look).toContain("full screen");
      expect(look).not.toMatch(/\x1b\[\?[\d;]*[hl]/);
    }
    expect(screen.look(true)).toContain("shell");
    expect(screen.text(false)).toBe("full screen");
    expect(screen.text(true)).toBe("shell\nfull screen");
  });

  test("a replay shows the same again", () => {
    const first = xterm("\x1b[1;31mred\x1b[0m plain\r\n\x1b[4munder\x1b[3;5Hthere │😀");
    const second = xterm(first.replay());
    expect(second.text(true)).toBe(first.text(true));
    expect(second.cursor()).toEqual(first.cursor());
  });
});

describe("Screen", () => {
  const fail = (error: unknown) => {
    throw error;
  };

  test("answers in order, at the place of the output where it was asked, though the emulator loads later", async () => {
    const screen = new Screen(SIZE, fail);
    const seen: unknown[] = [];
    screen.write(encode("ab"), 0);
    screen.look((at) => seen.push(at.cursor()));
    screen.write(encode("cd"), 0);
    screen.resize({ rows: 3, cols: 10 });
    screen.look((at) => seen.push(at.cursor(), at.text(false)));
    screen.write(encode("ef"), 0);
    expect(seen).toEqual([]);
    await screen.settled();
    expect(seen).toEqual([{ row: 1, col: 3 }, { row: 1, col: 5 }, "abcd"]);
    screen.look((at) => seen.push(at.text(false)));
    expect(seen.at(-1)).toBe("abcdef");
  });

  test("tells the last lines of simple output without an emulator, of any other with one", async () => {
    const simple = new Screen(SIZE, fail);
    simple.write(encode("one\r\ntwo\r\n"), 0);
    expect(await simple.tail(200)).toEqual(["one", "two"]);
    expect(simple.ifLoaded()).toBeNull();
    const drawn = new Screen(SIZE, fail);
    drawn.write(encode("one\x1b[2J\x1b[Htwo"), 0);
    expect(await drawn.tail(200)).toEqual(["two"]);
    expect(drawn.ifLoaded()?.cursor()).toEqual({ row: 1, col: 4 });
  });

  test("megabytes that scroll by need no emulator", async () => {
    const screen = new Screen(SIZE, fail);
    const block = encode("0123456789\r\n".repeat(10_000));
    for (let index = 0; index < 30; index++) screen.write(block, 0);
    await screen.settled();
    expect(screen.ifLoaded()).toBeNull();
    expect((await screen.tail(200)).length).toBe(200);
  });

  test("a megabyte of anything else goes to one", async () => {
    const screen = new Screen(SIZE, fail);
    const block = encode("\x1b[H\x1b[J0123456789\r\n\r\n\r\n\r\n\r\n".repeat(10_000));
    for (let index = 0; index < 10; index++) screen.write(block, block.length);
    await screen.settled();
    expect(screen.ifLoaded()?.cursor()).toEqual({ row: 5, col: 1 });
  });
});

/** PTY-01: a socket path that is too long is refused by name before anything is written; 103 bytes work. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Field, isAlive, TEST_MS } from "./kit.ts";

let field: Field;
afterEach(() => field.remove());

/** A field whose socket for `a` has a path of so many bytes. */
function fieldOf(bytes: number, letter: string): Field {
  const short = "/tmp/cv-XXXXXX//pty/box.a.sock".length;
  const wide = Buffer.byteLength(letter);
  const room = bytes - short;
  const network = letter.repeat(Math.floor(room / wide)) + "x".repeat(room % wide);
  return new Field({ network });
}

const LENGTHS = [102, 103, 104, 107, 108, 120];

test.each(["n", "é"].flatMap((letter) => LENGTHS.map((bytes) => [bytes, letter] as const)))(
  "%d bytes, of %s",
  async (bytes, letter) => {
    field = fieldOf(bytes, letter);
    field.declare("a");
    const socket = join(field.network, "pty/box.a.sock");
    expect(Buffer.byteLength(socket)).toBe(bytes);

    const ran = await field.convoy(["up", field.network, "--once"]);
    const said = `${ran.stdout}${ran.stderr}`;

    if (bytes <= 103) {
      expect(ran.code).toBe(0);
      const [run] = await field.untilLaunched(1);
      expect((await field.list())[0]).toMatchObject({ state: "running", pid: run!.pid });
      expect(isAlive(run!.pid)).toBe(true);
      expect((await field.convoy(["down", field.network])).code).toBe(0);
      return;
    }
    expect(ran.code).toBe(1);
    const line = said.split("\n").find((one) => one.includes("103"));
    expect(line).toContain(String(bytes));
    expect(line).toContain(socket);
    expect(field.launches()).toEqual([]);
    expect(existsSync(field.claudeConfig)).toBe(false);
    expect(readdirSync(join(field.network, "pty")).filter((name) => name !== ".convoy")).toEqual([]);
    await field.convoy(["ls", field.network]);
  },
  TEST_MS,
);

test(
  "others start beside it",
  async () => {
    field = fieldOf(103, "n");
    field.declare("a");
    field.declare("bb");
    expect((await field.once()).code).toBe(1);
    await field.untilLaunched(1);
    expect((await field.once()).code).toBe(1);
    expect(field.launches().map(({ busId }) => busId)).toEqual(["box.a"]);
  },
  TEST_MS,
);

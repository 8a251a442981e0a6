/** PTY-07: looking at a session does not disturb it, and its size is the smallest of those attached. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inShell, PersonTerminal } from "../e2e/terminal.ts";
import { BINARY, Field, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const read = (name: string) => {
  const path = join(field.root, name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

async function run(words: readonly string[], cols: number, rows: number): Promise<PersonTerminal> {
  const command = inShell([BINARY, ...words, "--network", field.network]);
  const terminal = new PersonTerminal({
    command,
    env: field.environment(),
    cwd: field.root,
    rows,
    cols,
  });
  await terminal.shows("ready");
  return terminal;
}

async function leave(terminal: PersonTerminal): Promise<void> {
  terminal.type("\x1c");
  await terminal.shows("code 0.");
  await terminal.ended();
}

test(
  "sizes that an agent sees",
  async () => {
    field.declare("a");
    field.behave(
      "box.a",
      `trap 'stty size </dev/tty >>${field.root}/sizes' WINCH
cat </dev/tty >>${field.root}/typed &
stty -echo; echo ready
while :; do sleep 0.02; done`,
    );
    expect((await field.once()).code).toBe(0);
    await field.untilLaunched(1);
    const sizes: string[] = [];
    const saw = async (size: string) => {
      sizes.push(size);
      const wanted = sizes.map((one) => `${one}\n`).join("");
      await until(
        `the agent to see ${sizes.join(", ")}`,
        () => read("sizes") === wanted,
        () => read("sizes"),
      );
    };

    const large = await run(["attach", "a"], 120, 40);
    await saw("40 120");
    const look = await run(["peek", "a"], 40, 10);
    await look.shows("code 0.");
    await look.ended();
    expect((await field.convoy(["peek", "a", "--network", field.network])).stdout).toContain("ready");
    const small = await run(["attach", "a"], 80, 24);
    await saw("24 80");
    await leave(small);
    await saw("40 120");
    large.resize(30, 100);
    await saw("30 100");
    large.resize(40, 120);
    await saw("40 120");
    await leave(large);
    await leave(await run(["attach", "a"], 120, 40));
    const larger = await run(["attach", "a"], 200, 50);
    await saw("50 200");
    await leave(larger);
    // A client without a terminal has no size.
    const piped = Bun.spawn([BINARY, "attach", "a", "--network", field.network], {
      env: field.environment(),
      cwd: field.root,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
    });
    for await (const bytes of piped.stdout) if (Buffer.from(bytes).includes("ready")) break;
    piped.kill("SIGTERM");
    expect(await piped.exited).toBe(0);
    await leave(await run(["attach", "a"], 120, 40));
    await saw("40 120");
    expect(read("typed")).toBe("");
  },
  TEST_MS,
);

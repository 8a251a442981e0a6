/** PTY-02: a large paste arrives whole, however slowly it is read, and nobody waits for anybody. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inShell, PersonTerminal } from "../e2e/terminal.ts";
import { BINARY, Field, isAlive, type Launch, sha256, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const KB = 1024;
const DETACH = "\x1c";

async function start(script: string): Promise<Launch> {
  field.declare("a");
  field.behave("box.a", `stty raw -echo; printf ready; ${script}`);
  expect((await field.once()).code).toBe(0);
  return (await field.untilLaunched(1))[0]!;
}

async function attach(): Promise<PersonTerminal> {
  const command = inShell([BINARY, "attach", "a", "--network", field.network]);
  const terminal = new PersonTerminal({ command, env: field.environment(), cwd: field.root });
  await terminal.shows("ready");
  return terminal;
}

/** Lines of many kinds of characters, of so many bytes. */
function paste(bytes: number): string {
  let text = "";
  for (let line = 0; text.length < bytes; line++) text += `${line} aé€🙂 ─┐\r`;
  const cut = Buffer.from(text).subarray(0, bytes - 3);
  const whole = cut.toString().replaceAll("\ufffd", "");
  return whole.padEnd(whole.length + bytes - Buffer.byteLength(whole), ".");
}

async function arrived(text: string): Promise<void> {
  const path = field.put("wanted", text);
  const typed = join(field.root, "typed");
  const size = () => (existsSync(typed) ? statSync(typed).size : 0);
  const deadline = performance.now() + TEST_MS / 2;
  while (size() < statSync(path).size && performance.now() < deadline) {
    const { code, stdout } = await field.convoy(["peek", "a", "--network", field.network]);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(0);
    expect((await field.list())[0]).toMatchObject({ state: "running" });
  }
  expect([size(), sha256(typed)]).toEqual([statSync(path).size, sha256(path)]);
}

function hostMegabytes({ hostPid }: Launch): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hostPid}/status`, "utf8"))?.[1]) / KB;
}

async function leave(terminal: PersonTerminal): Promise<void> {
  terminal.type(DETACH);
  await terminal.shows("code 0.");
  await terminal.shows("settings as before.");
  await terminal.ended();
}

test.each([
  ["256 KB, read 1 KB each 50 ms", 256, 1, 0.05],
  ["2 MB, read 4 KB each 10 ms", 2048, 4, 0.01],
])(
  "%s",
  async (_, kilobytes, readKilobytes, pause) => {
    const read = `dd bs=${readKilobytes * KB} count=1 2>/dev/null`;
    await start(`while ${read} >>"${field.root}/typed"; do sleep ${pause}; done`);
    const terminal = await attach();
    const text = paste(kilobytes * KB);
    terminal.type(text);
    await arrived(text);
    await leave(terminal);
  },
  2 * TEST_MS,
);

test(
  "2 MB into an agent that echoes all of it",
  async () => {
    await start(`exec tee "${field.root}/typed"`);
    const terminal = await attach();
    const from = terminal.length;
    const text = paste(2048 * KB);
    terminal.type(text);
    await arrived(text);
    await until("the echo", () => terminal.length - from >= Buffer.byteLength(text));
    expect(
      terminal.shown
        .subarray(from)
        .toString()
        .startsWith(text.slice(-50), text.length - 50),
    ).toBe(true);
    await leave(terminal);
  },
  TEST_MS,
);

test(
  "2 MB, and 4 MB more, into an agent that never reads",
  async () => {
    const launch = await start("");
    const terminal = await attach();
    terminal.type(paste(2048 * KB));
    expect((await field.convoy(["peek", "a", "--network", field.network])).stdout).toContain("ready");
    await leave(terminal);
    const again = await attach();
    again.type(paste(4096 * KB));
    expect((await field.convoy(["peek", "a", "--network", field.network])).stdout).toContain("ready");
    await leave(again);
    if (process.platform === "linux") expect(hostMegabytes(launch)).toBeLessThan(150);
    expect((await field.convoy(["down", field.network])).code).toBe(0);
    expect(isAlive(launch.pid)).toBe(false);
  },
  TEST_MS,
);

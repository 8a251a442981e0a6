/** `attach`: a person's own terminal on an agent. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, isAlive, kill, Net, until } from "./kit.ts";
import { inShell, PersonTerminal } from "./terminal.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const DETACH = "\x1c";
/** Says what keys it gets, one line of hexadecimal bytes each read. */
const KEYS = `stty raw -echo; printf 'ready\\r\\n'; while :; do got=$(dd bs=64 count=1 2>/dev/null | od -An -tx1 | tr -d '\\n'); printf 'keys%s.\\r\\n' "$got"; done`;

async function start(identity: string, command: string): Promise<number> {
  net.declare(identity, { command });
  expect((await net.once()).code).toBe(0);
  return await net.running(identity);
}

function attach(identity: string, size: { rows?: number; cols?: number } = {}): PersonTerminal {
  const command = inShell([BINARY, "attach", identity, "--network", net.root]);
  return new PersonTerminal({ command, env: net.env(), cwd: net.home, ...size });
}

async function over(terminal: PersonTerminal, code: number): Promise<void> {
  await terminal.shows(`code ${code}.`);
  await terminal.shows("settings as before.");
  await terminal.ended();
}

test("keys go to the program, the detach key leaves it running, and pressed twice is one for it", async () => {
  const pid = await start("a", KEYS);
  const terminal = attach("a");
  await terminal.shows("ready");
  terminal.type("x\x03\x1b[A");
  await terminal.shows("keys 78 03 1b 5b 41.");
  terminal.type(DETACH + DETACH);
  await terminal.shows("keys 1c.");
  terminal.type(DETACH);
  await over(terminal, 0);
  expect(terminal.text).toContain("detached from box.a");
  expect(isAlive(pid)).toBe(true);
  const again = attach("a");
  await again.shows("keys 1c.");
  again.type("\x1b[92;5u");
  await over(again, 0);
});

test("the program's own exit code, and one line that says how it ended", async () => {
  await start("a", "read -r line; printf 'last words'; exit 7");
  const terminal = attach("a");
  await until("the attachment", async () => terminal.text.includes("\x1b[2J"));
  terminal.type("go\r");
  await over(terminal, 7);
  expect(terminal.text).toMatch(/last words[\s\S]*box\.a ended \S+ ago: exit code 7/);
  const ended = await net.convoy(["attach", "a"]);
  expect([ended.code, ended.stdout, ended.stderr.replace(/ \S+ ago/, " ago")]).toEqual([
    7,
    "",
    "box.a ended ago: exit code 7\n",
  ]);
});

test("refusals: nobody of that name, typed inside it, no host, a mute host", async () => {
  expect((await net.convoy(["attach", "nobody"])).code).toBe(3);
  await start("a", "while :; do sleep 0.05; done");
  const inside = { PTY_SESSION: "box.a", PTY_ROOT: net.pty };
  expect(await net.convoy(["attach", "a"], inside)).toEqual({
    code: 2,
    stdout: "",
    stderr: "convoy: this is typed inside box.a: its terminal would show itself\n  next: type it elsewhere\n",
  });
  const socket = join(net.pty, "box.a.sock");
  renameSync(socket, `${socket}.away`);
  const mute = createServer(() => {}).listen(socket);
  await until("the mute host", () => mute.listening);
  const silent = await net.convoy(["attach", "a"]);
  mute.close();
  expect([silent.code, silent.stderr]).toEqual([
    1,
    expect.stringMatching(/^convoy: the session host of box\.a \(pid \d+\) does not answer within 5 s\n$/),
  ]);
});

test("a host that is killed is said, and the terminal is given back", async () => {
  await start("a", `trap '' HUP; printf '\\033[?1049h\\033[?25lready'; while :; do sleep 0.05; done`);
  const terminal = attach("a");
  await terminal.shows("ready");
  kill(net.ledger("a")!.host!.pid);
  await over(terminal, 1);
  expect(terminal.text).toContain("convoy: the session host of box.a is gone");
  expect(terminal.text).toMatch(/\x1b\[\?25h[\s\S]*\x1b\[\?1049l/);
  const orphan = await net.convoy(["attach", "a"]);
  expect(orphan.code).toBe(1);
  expect(orphan.stderr).toContain("runs without its session host");
});

test("a host that answers nothing any more is left by the detach key", async () => {
  const pid = await start("a", KEYS);
  const host = net.ledger("a")!.host!.pid;
  const terminal = attach("a");
  await terminal.shows("ready");
  kill(host, "SIGSTOP");
  terminal.type(DETACH);
  await over(terminal, 0);
  kill(host, "SIGCONT");
  expect(isAlive(pid)).toBe(true);
});

test("a reader that goes away ends it quietly", async () => {
  await start("a", "while :; do echo tick; sleep 0.02; done");
  const through = `"$0" attach a --network "$1" </dev/null | head -n 3; wait`;
  const child = Bun.spawn(["sh", "-c", through, BINARY, net.root], {
    env: net.env(),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  // The first screen may be drawn in the middle of a line.
  expect(stdout.match(/tick/g)?.length).toBeGreaterThanOrEqual(3);
  expect(stderr).toBe("detached from box.a\n");
});

test.each([
  ["terminal", 100],
  ["pipe", 20],
])(
  "a fast stream arrives without a gap, in a %s",
  async (kind, megabytes) => {
    const count = megabytes * 16_384;
    const line = (i: number) => `${String(i).padStart(7, "0")} ${"x".repeat(54)}`;
    const file = join(net.home, "stream");
    writeFileSync(file, Array.from({ length: count }, (_, i) => `${line(i)}\n`).join(""));
    const host = await start("a", `stty raw -echo; echo ready; read -r go; cat ${file}; exit 5`).then(
      () => net.ledger("a")!.host!.pid,
    );
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMegabytes(host));
    }, 200);
    const began = performance.now();
    const shown = kind === "pipe" ? await inPipe("go\n") : await inTerminal("go\n");
    clearInterval(watch);
    const seconds = (performance.now() - began) / 1_000;
    const found = shown.match(/\d{7} x{54}(?=\r?\n)/g) ?? [];
    const wrong = found.findIndex((one, index) => one !== line(index));
    expect([found.length, wrong]).toEqual([count, -1]);
    expect(peak).toBeLessThan(200);
    console.log(`${megabytes} MB: ${seconds.toFixed(1)} s, host ${peak.toFixed(0)} MB`);
  },
  600_000,
);

async function inTerminal(typed: string): Promise<string> {
  const terminal = attach("a");
  await terminal.shows("ready");
  terminal.type(typed);
  await terminal.ended();
  await over(terminal, 5);
  return terminal.text;
}

async function inPipe(typed: string): Promise<string> {
  const child = Bun.spawn([BINARY, "attach", "a", "--network", net.root], {
    env: net.env(),
    stdin: new Blob([typed]),
    stdout: "pipe",
    stderr: "ignore",
  });
  const shown = await new Response(child.stdout).text();
  expect(await child.exited).toBe(5);
  return shown;
}

/** 0 where there is no such file to read. */
function residentMegabytes(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8"))?.[1] ?? 0) / 1_024;
}

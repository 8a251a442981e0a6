/** `send`: text and keys into an agent's terminal. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(4 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

/** Keeps what is typed, byte for byte. */
const KEEP = (before = "") => `stty raw -echo; ${before}printf ready; exec cat >"$HOME/typed"`;

async function start(command: string): Promise<number> {
  net.declare("a", { command });
  expect((await net.once()).code).toBe(0);
  const pid = await net.running("a");
  await until("the program to be ready", async () =>
    (await net.convoy(["peek", "a"])).stdout.includes("ready"),
  );
  return pid;
}

function typed(): string {
  const path = join(net.home, "typed");
  return existsSync(path) ? readFileSync(path, "latin1") : "";
}

async function sendFile(path: string, words: readonly string[] = []): Promise<number> {
  const child = Bun.spawn([BINARY, "send", "a", "-", ...words, "--network", net.root], {
    env: net.env(),
    stdin: Bun.file(path),
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(await new Response(child.stdout).text()).toBe("");
  return await child.exited;
}

test("text as it is, then keys in their order, then Enter", async () => {
  await start(KEEP());
  const latin = (text: string) => Buffer.from(text).toString("latin1");
  let wanted = "";
  const steps: [string[], string][] = [
    [["hé 🙂\n", "--enter"], latin("hé 🙂\n\r")],
    [["--enter", "--key", "up", "--key=esc", "--key", "alt-x", "x"], "x\x1b[A\x1b\x1bx\r"],
    [["--paste", "a\x1b[201~b", "--enter"], `\x1b[200~a${latin("␛")}[201~b\x1b[201~\r`],
    [["", "--key", "c-c"], "\x03"],
    [["--key", "f12"], "\x1b[24~"],
  ];
  for (const [words, bytes] of steps) {
    wanted += bytes;
    const said = { code: 0, stdout: "", stderr: "" };
    expect([words, await net.convoy(["send", "a", ...words])]).toEqual([words, said]);
    await until(
      "all to be typed",
      () => typed() === wanted,
      () => JSON.stringify(typed()),
    );
  }
});

test("cursor keys are said as the program asked for them", async () => {
  await start(KEEP("printf '\\033[?1h'; "));
  expect((await net.convoy(["send", "a", "--key", "up", "--key", "shift-up"])).code).toBe(0);
  await until(
    "both keys",
    () => typed() === "\x1bOA\x1b[1;2A",
    () => JSON.stringify(typed()),
  );
});

test("refusals", async () => {
  const table: [string[], number, string][] = [
    [["send", "a"], 2, "send: there is nothing to type"],
    [["send", "a", "--paste", "--enter"], 2, "send: --paste needs a text"],
    [["send", "a", "--key", "entr"], 2, 'send: --key is "entr", which is no key; did you mean enter?'],
    [["send", "nobody", "x"], 3, "nobody"],
  ];
  for (const [words, code, said] of table) {
    const ran = await net.convoy(words);
    expect([words, ran.code, ran.stdout, ran.stderr]).toEqual([
      words,
      code,
      "",
      expect.stringContaining(said),
    ]);
  }
  await start(KEEP());
  const socket = join(net.pty, "box.a.sock");
  renameSync(socket, `${socket}.away`);
  const mute = createServer(() => {}).listen(socket);
  await until("the mute host", () => mute.listening);
  const silent = await net.convoy(["send", "a", "x"]);
  mute.close();
  expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining("does not answer within 5 s")]);
});

test("one that has ended, and one whose host is gone", async () => {
  await start("echo ready; trap '' HUP; while :; do sleep 0.05; done");
  kill(net.ledger("a")!.host!.pid);
  const orphan = await until("the orphan", async () => {
    const ran = await net.convoy(["send", "a", "x"]);
    return ran.stderr.includes("without its session host") ? ran : null;
  });
  expect(orphan.code).toBe(1);
  kill(net.pid("a"));
  net.declare("b", { command: "exit 4" });
  await net.once();
  const ended = await until("the end", async () => {
    const ran = await net.convoy(["send", "b", "x"]);
    return ran.stderr.includes("has ended") ? ran : null;
  });
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
});

test("more than the host keeps is typed whole, and holds the sender up until the program reads", async () => {
  const reader = `until [ -e "$HOME/go" ]; do sleep 0.05; done; `;
  const bytes = Buffer.alloc(9 * 1024 * 1024 + 5);
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  const file = join(net.home, "long");
  writeFileSync(file, bytes);
  await start(`stty raw -echo; printf ready; ${reader}exec cat >"$HOME/typed"`);
  const sent = sendFile(file);
  // Longer than a mute host is waited for: this one gives signs of life.
  const early = await Promise.race([sent, Bun.sleep(8_000).then(() => "held up" as const)]);
  expect(early).toBe("held up");
  expect((await net.convoy(["peek", "a"])).stdout).toContain("ready");
  writeFileSync(join(net.home, "go"), "");
  expect(await sent).toBe(0);
  const path = join(net.home, "typed");
  await until("all to be typed", () => Bun.file(path).size >= bytes.length);
  expect(Bun.SHA256.hash(readFileSync(path), "hex")).toBe(Bun.SHA256.hash(bytes, "hex"));
});

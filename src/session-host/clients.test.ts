import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHostNetwork, type HostNetwork, until } from "../../test/fakes/host-network.ts";
import type { HostMessage, Size } from "../protocol.ts";
import type { SessionClient } from "./client.ts";

let network: HostNetwork;
beforeEach(() => {
  network = createHostNetwork();
});
afterEach(() => network.close());

interface Seen {
  readonly client: SessionClient;
  readonly messages: HostMessage[];
  /** Everything it was shown, screen first. */
  text(): string;
}

async function attach(name: string, size: Size): Promise<Seen> {
  const client = await network.connect(name);
  const messages: HostMessage[] = [];
  client.onMessage((message) => messages.push(message));
  await client.send({ kind: "attach", size });
  await until("a screen", () => messages.some(({ kind }) => kind === "screen"));
  const text = () =>
    Buffer.concat(
      messages.flatMap((message) =>
        message.kind === "data" || message.kind === "screen" ? [message.bytes] : [],
      ),
    ).toString();
  return { client, messages, text };
}

const sizeInForce = async (name: string) => {
  const client = await network.connect(name);
  const answer = await client.status();
  client.close();
  if (!answer.ok) throw new Error(answer.message);
  const { rows, cols } = answer.status.terminal;
  return { rows, cols };
};

const SIZES = "trap 'stty size >> sizes' WINCH; stty size > sizes; echo ready; while :; do sleep 0.02; done";
const sizes = () => readFileSync(join(network.root, "sizes"), "utf8").trimEnd().split("\n");

describe("the size of the terminal", () => {
  test("is the smallest of those attached, stays when the last one leaves, and is never nothing", async () => {
    await network.start("a", SIZES);
    await network.untilText("a", "ready");
    const big = await attach("a", { rows: 40, cols: 120 });
    await until("120 columns", () => sizes().at(-1) === "40 120");
    const small = await attach("a", { rows: 24, cols: 80 });
    expect(small.messages.filter(({ kind }) => kind === "geometry")).toEqual([
      { kind: "geometry", size: { rows: 24, cols: 80 } },
    ]);
    await until("80 columns", () => sizes().at(-1) === "24 80");
    await big.client.send({ kind: "resize", size: { rows: 50, cols: 130 } });
    small.client.close();
    await until("the larger size again", () => sizes().at(-1) === "50 130");
    await big.client.send({ kind: "resize", size: { rows: 0, cols: 0 } });
    big.client.close();
    await until("nobody attached", async () => (await network.text("a")) !== null);
    expect(await sizeInForce("a")).toEqual({ rows: 50, cols: 130 });
    const again = await attach("a", { rows: 50, cols: 130 });
    await attach("a", { rows: 0, cols: 200 });
    expect(again.messages[0]).toEqual({ kind: "geometry", size: { rows: 50, cols: 130 } });
    expect(sizes()).toEqual(["24 80", "40 120", "24 80", "50 130"]);
  });

  test("does not change for those who only look", async () => {
    await network.start("a", SIZES);
    await network.untilText("a", "ready");
    const client = await network.connect("a");
    await client.peek({});
    await client.send({ kind: "resize", size: { rows: 10, cols: 40 } });
    await client.sendData(Buffer.from("typed by a reader"));
    expect(await network.text("a")).toBe("ready");
    expect(sizes()).toEqual(["24 80"]);
  });
});

describe("what clients see", () => {
  test("status: briefly without what only an emulator knows, else with it", async () => {
    const draws = "printf '\\033[?1006h\\033[?25l\\033[>5u\\033[>7u'; seq 30; printf end; exec sleep 100";
    const { pid, hostPid } = await network.start("a", draws);
    const client = await network.connect("a");
    const asked = await client.status();
    const messages: HostMessage[] = [];
    client.onMessage((message) => messages.push(message));
    await network.untilText("a", "end");
    await attach("a", { rows: 24, cols: 80 });
    await client.send({ kind: "status", brief: false });
    const answer = await until("the answer", () => messages.find(({ kind }) => kind === "status"));
    const { launchedAt: createdAt, launchId, protocol } = network.ledger("a");
    const resources = { rssKb: expect.any(Number), cpuPercent: expect.any(Number) };
    const nothing = { cursorX: null, cursorY: null, scrollbackUsed: null, scrollbackCapacity: null };
    const common = {
      name: "a",
      process: { alive: true, exitCode: null, pid, resources },
      daemon: { pid: hostPid, resources },
      uptimeSeconds: expect.any(Number),
      createdAt,
    };
    const convoy = { version: "0.0.0-test", protocol, launchId };
    expect(asked).toMatchObject({
      ok: true,
      status: {
        ...common,
        terminal: { rows: 24, cols: 80, ...nothing },
        clients: { total: 0, attached: 0, readOnly: 0 },
        convoy: { ...convoy, connections: 1 },
      },
    });
    expect(answer.kind === "status" && JSON.parse(answer.text)).toEqual({
      ...common,
      terminal: { rows: 24, cols: 80, cursorX: 3, cursorY: 23, scrollbackUsed: 31, scrollbackCapacity: 1024 },
      clients: { total: 1, attached: 1, readOnly: 0 },
      modes: {
        sgrMouse: true,
        cursorHidden: true,
        kittyKeyboard: true,
        kittyKeyboardFlags: [5, 7],
        applicationCursor: false,
      },
      convoy: { ...convoy, connections: 2 },
    });
  });

  test("typing from a connection that never attached reaches the program", async () => {
    await network.start("a", "read line; echo got:$line; exec sleep 100");
    const client = await network.connect("a");
    await client.sendData(Buffer.from("hello\r"));
    await network.untilText("a", "got:hello");
  });

  test("modes are put back for one who attaches later", async () => {
    await network.start(
      "a",
      "printf '\\033[?1049h\\033[?1000;1006;1004;2004;1h\\033[?25lscreen'; exec sleep 100",
    );
    await network.untilText("a", "screen");
    const seen = await attach("a", { rows: 24, cols: 80 });
    for (const mode of [1049, 1000, 1006, 1004, 2004, 1]) expect(seen.text()).toContain(`\x1b[?${mode}h`);
    expect(seen.text()).toContain("\x1b[?25l");
  });

  test("one who attaches in the middle of a stream sees no broken character and no cut sequence", async () => {
    const program = `
      for (let i = 0; i < 6000; i++) {
        for (const byte of Buffer.from("\\x1b[3" + (i % 8) + "m│😀é" + i + "\\x1b[0m\\n")) {
          require("fs").writeSync(1, Buffer.of(byte));
        }
      }
      require("fs").writeSync(1, "the end");
      setTimeout(() => {}, 100000);`;
    await Bun.write(join(network.root, "printer.cjs"), program);
    await network.start("a", `exec ${process.execPath} printer.cjs`);
    const seen: Seen[] = [];
    const ended = () => seen.at(-1)!.text().includes("the end");
    for (let index = 0; index < 5; index++) {
      seen.push(await attach("a", { rows: 24, cols: 80 }));
      await until("more output", () => seen.at(-1)!.messages.length > 10 || ended());
    }
    await until("the end", () => seen.every((one) => one.text().includes("the end")), 30_000);
    for (const { messages, text } of seen) {
      expect(text()).not.toContain("\uFFFD");
      const screen = messages.findIndex(({ kind }) => kind === "screen");
      const stream = Buffer.concat(
        messages.slice(screen + 1).flatMap((message) => (message.kind === "data" ? [message.bytes] : [])),
      ).toString();
      const whole = /^(?:\x1b\[3\dm|\x1b\[0m|│|😀|é|\d|\r\n)*the end$/;
      expect(stream).toMatch(whole);
    }
  }, 60_000);

  test("questions are answered while nobody is attached, and left to the terminal of one who is", async () => {
    const ask =
      "stty raw -echo; printf '\\033[6n\\033[c'; dd bs=1 count=15 2>/dev/null | od -An -c; echo done";
    await network.start("a", `${ask}; exec sleep 100`);
    const text = await network.untilText("a", "done");
    expect(text.replaceAll(/\s+/g, "")).toBe("033[1;1R033[?62;22cdone");
    await network.start(
      "b",
      `read go; printf '\\033[c'; ${"read -r answer; echo answer:$answer; exec sleep 100"}`,
    );
    const seen = await attach("b", { rows: 24, cols: 80 });
    await seen.client.sendData(Buffer.from("go\r"));
    await until("the question", () => seen.text().includes("\x1b[c"));
    await seen.client.sendData(Buffer.from("mine\r"));
    await until("the answer", () => seen.text().includes("answer:mine"));
  });
});

describe("too much for somebody", () => {
  test("a paste of two megabytes arrives whole at a slow reader, and others are served meanwhile", async () => {
    const reader = `
      const hash = require("crypto").createHash("sha256");
      process.stdin.setRawMode(true);
      console.log("ready");
      let total = 0;
      process.stdin.on("data", (bytes) => {
        hash.update(bytes);
        total += bytes.length;
        process.stdin.pause();
        setTimeout(() => process.stdin.resume(), 1);
        if (total >= 2 * 1024 * 1024) console.log("hash:" + hash.digest("hex").slice(0, 16) + " " + total);
      });`;
    await Bun.write(join(network.root, "reader.cjs"), reader);
    await network.start("a", `exec ${process.execPath} reader.cjs`);
    await network.untilText("a", "ready");
    const paste = Buffer.from(Array.from({ length: 2 * 1024 * 1024 }, (_, index) => 32 + ((index * 7) % 90)));
    const seen = await attach("a", { rows: 24, cols: 80 });
    const sent = seen.client.sendData(paste);
    expect(await network.text("a")).toContain("ready");
    const wanted = createHash("sha256").update(paste).digest("hex").slice(0, 16);
    await until("the hash", () => seen.text().includes(`hash:${wanted} ${paste.length}`), 60_000);
    expect(await sent).toBe(true);
  }, 90_000);

  test("a program that never reads holds nobody up: bounded, and still to be looked at and ended", async () => {
    const { hostPid } = await network.start("a", "stty raw -echo; echo ready; exec sleep 100");
    await network.untilText("a", "ready");
    const seen = await attach("a", { rows: 24, cols: 80 });
    const sent = seen.client.sendData(Buffer.alloc(16 * 1024 * 1024, 65));
    await until("a full queue", () => rssMb(hostPid) > 0 && network.text("a"));
    expect(await network.text("a")).toBe("ready");
    seen.client.close();
    expect(await sent).toBe(false);
    await until("the client to be forgotten", async () => {
      const client = await network.connect("a");
      const answer = await client.status();
      client.close();
      return answer.ok && answer.status.clients.attached === 0;
    });
    process.kill(hostPid, "SIGTERM");
    expect((await network.untilGone("a")).end?.exitCode).toBe(129);
  });

  test("a client that stops reading is brought up to date when it reads again, and nobody waits for it", async () => {
    const { hostPid } = await network.start(
      "a",
      'read go; seq -f "line %g of very many lines that somebody does not read" 1 200000; echo finished; exec sleep 100',
    );
    const client = await network.connect("a");
    const messages: HostMessage[] = [];
    client.onMessage((message) => messages.push(message));
    await client.send({ kind: "attach", size: { rows: 24, cols: 80 } });
    await until("a screen", () => messages.length >= 2);
    client.setReading(false);
    const other = await network.connect("a");
    await other.sendData(Buffer.from("go\r"));
    await until("the end", async () => (await network.text("a")).includes("finished"), 60_000);
    expect(rssMb(hostPid)).toBeLessThan(150);
    client.setReading(true);
    await until("a second screen", () => messages.filter(({ kind }) => kind === "screen").length === 2);
    const last = messages.findLast((message) => message.kind === "screen");
    expect(Buffer.from(last!.kind === "screen" ? last!.bytes : "").toString()).toContain("finished");
  }, 90_000);

  test("one who breaks the protocol is dropped, the session stays", async () => {
    await network.start("a", "echo fine; exec sleep 100");
    let closed = false;
    const socket = await Bun.connect({
      unix: network.paths("a").socket,
      socket: {
        data() {},
        close() {
          closed = true;
        },
      },
    });
    socket.write(Uint8Array.of(0, 255, 255, 255, 255));
    await until("the drop", () => closed);
    await network.untilText("a", "fine");
  });
});

function rssMb(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(status, "utf8"))?.[1] ?? 0) / 1024;
}

/** What agents show and print, living and dead, by `peek` and `logs`. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

/** Prints `count` numbered lines in green, and idles so that a trap is run at once. */
const printing = (count: number) =>
  `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); printf '\\033[32mline %d\\033[0m\\n' $i; done; while :; do sleep 0.05; done`;
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

async function printed(identity: string, wanted: string): Promise<void> {
  await until(`${identity} to print "${wanted}"`, async () => {
    return (await net.convoy(["logs", identity])).stdout.includes(wanted);
  });
}

/** Runs a command that goes on until it is told to end. */
function follow(words: readonly string[]) {
  const child = net.spawn(words);
  const seen = { stdout: "", stderr: "" };
  const read = async (of: "stdout" | "stderr") => {
    for await (const bytes of child[of]) seen[of] += Buffer.from(bytes).toString();
  };
  const done = Promise.all([read("stdout"), read("stderr")]);
  return {
    seen,
    shows: (wanted: string) =>
      until(
        `"${wanted}"`,
        () => seen.stdout.includes(wanted),
        () => JSON.stringify(seen),
      ),
    async stop() {
      child.kill("SIGINT");
      await done;
      return await child.exited;
    },
    ended: async () => {
      await done;
      return await child.exited;
    },
  };
}

test("the screen, the scrollback, colours, and the last lines, of an agent that runs", async () => {
  net.declare("a", { command: `trap "echo resized" WINCH; ${printing(40)}` });
  await net.once();
  await printed("a", "line 40");
  expect(await net.convoy(["peek", "a"])).toEqual({ code: 0, stdout: text(numbered(18, 40)), stderr: "" });
  expect((await net.convoy(["peek", "box.a", "--full"])).stdout).toBe(text(numbered(1, 40)));
  const { stdout } = await net.convoy(["peek", "a", "--ansi"]);
  expect(stdout).toStartWith("\x1b[32mline 18\r\n");
  expect(Bun.stripANSI(stdout).trimEnd().split("\r\n")).toEqual(numbered(18, 40));
  expect((await net.convoy(["logs", "a"])).stdout).toBe(text(numbered(1, 40)));
  expect((await net.convoy(["logs", "a", "-n", "2"])).stdout).toBe("line 39\nline 40\n");
  expect(JSON.parse((await net.convoy(["logs", "a", "-n1", "--json"])).stdout)).toEqual({
    identity: "a",
    busId: "box.a",
    session: "box.a",
    end: null,
    lines: ["line 40"],
  });
  expect(await net.convoy(["logs", "a", "--previous"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "box.a has had no run before this one.\n",
  });
});

test("of one that has ended: its last lines, and how it ended", async () => {
  net.declare("a", { command: "i=0; while [ $i -lt 40 ]; do i=$((i+1)); echo line $i; done; exit 3" });
  await net.once();
  await until("a to end", () => net.ledger("a")?.end);
  const stderr = expect.stringMatching(/^box\.a ended \d+s ago: exit code 3\n$/);
  expect(await net.convoy(["peek", "a"])).toEqual({ code: 0, stdout: text(numbered(17, 40)), stderr });
  expect(await net.convoy(["peek", "a", "--full"])).toEqual({
    code: 0,
    stdout: text(numbered(1, 40)),
    stderr,
  });
  expect(await net.convoy(["peek", "a", "-f"])).toEqual({ code: 0, stdout: text(numbered(17, 40)), stderr });
  expect(await net.convoy(["logs", "a", "-n", "1"])).toEqual({ code: 0, stdout: "line 40\n", stderr });
  expect(await net.convoy(["logs", "a", "--previous", "-n", "1"])).toEqual({
    code: 0,
    stdout: "line 40\n",
    stderr,
  });
});

test("after a respawn, --previous tells of the run before", async () => {
  net.declare("a", { command: "agent a beat" });
  const supervisor = await net.up();
  const first = await net.running("a");
  await printed("a", "line 3");
  kill(first);
  await net.running("a", first);
  const { code, stdout, stderr } = await net.convoy(["logs", "a", "--previous"]);
  expect([code, stdout.split("\n").slice(0, 3)]).toEqual([0, ["line 1", "line 2", "line 3"]]);
  expect(stderr).toMatch(/^box\.a ended \d+s ago: exit code 137 \(SIGKILL\)\n$/);
  supervisor.signal("SIGTERM");
  await supervisor.ended;
});

test("logs -f goes on across launches, and ends with Ctrl-C", async () => {
  net.program("marked", '#!/bin/sh\necho "run $$"; echo "$$" >>"$HOME/marked"; exec sleep 1000\n');
  net.declare("a", { command: "exec marked" });
  await net.up();
  const first = await net.running("a");
  const following = follow(["logs", "a", "-f"]);
  await following.shows(`run ${first}\n`);
  kill(first);
  const second = await net.running("a", first);
  await following.shows(`run ${second}\n`);
  expect(await following.stop()).toBe(0);
  expect(following.seen).toEqual({
    stdout: `run ${first}\nrun ${second}\n`,
    stderr: expect.stringMatching(
      /^box\.a ended \d+s ago: exit code 137 \(SIGKILL\); waiting for the next run\.\n$/,
    ),
  });
});

test("peek -f prints what comes until the agent ends; a reader that leaves ends it too", async () => {
  net.declare("a", { command: "agent a beat" });
  await net.once();
  const plain = follow(["peek", "a", "-f"]);
  const ansi = follow(["peek", "a", "-f", "--ansi"]);
  await plain.shows(`line ${net.beats("a") + 3}\n`);
  await ansi.shows(`line ${net.beats("a") + 2}`);
  const line = `"${BINARY}" peek a -f --network "${net.root}" | head -n 1; "${BINARY}" logs a -f --network "${net.root}" | head -n 1`;
  const shell = Bun.spawn(["sh", "-c", line], { env: net.env(), stdout: "pipe", stderr: "pipe" });
  expect(await new Response(shell.stdout).text()).toMatch(/^line \d+\nline 1\n$/);
  expect(await new Response(shell.stderr).text()).toBe("");
  kill(net.pid("a"));
  expect(await plain.ended()).toBe(0);
  expect(await ansi.ended()).toBe(0);
  expect(plain.seen.stderr).toMatch(/^box\.a ended \d+s ago: exit code 137 \(SIGKILL\)\n$/);
  const numbers = [...plain.seen.stdout.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
});

test("on a terminal peek -f draws the screen, and leaves the terminal as it was", async () => {
  net.declare("a", { command: "agent a beat" });
  await net.once();
  let shown = "";
  const child = Bun.spawn([BINARY, "peek", "a", "-f", "--network", net.root], {
    cwd: net.home,
    env: net.env({ TERM: "xterm" }),
    terminal: {
      cols: 80,
      rows: 24,
      data: (_terminal, bytes) => {
        shown += Buffer.from(bytes).toString();
      },
    },
  });
  await until("a screen with three lines", () =>
    shown.includes("\x1b[H\x1b[2Jline 1\r\r\nline 2\r\r\nline 3"),
  );
  child.terminal?.write("\x03");
  expect(await child.exited).toBe(0);
  await until(
    "the terminal to be left",
    () => shown.lastIndexOf("\x1b[?1049l") > shown.lastIndexOf("\x1b[?1049h"),
  );
});

test("a host that is mute, or gone, is said at once or in five seconds; nothing hangs", async () => {
  net.declare("a");
  net.declare("deaf", { command: `trap "" HUP; while :; do sleep 1; done` });
  await net.once();
  const host = net.ledger("a")?.host?.pid ?? null;
  kill(host, "SIGSTOP");
  try {
    const started = performance.now();
    expect(await net.convoy(["peek", "a"])).toEqual({
      code: 1,
      stdout: "",
      stderr: `convoy: the session host of box.a (pid ${host}) does not answer within 5 s\n`,
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  } finally {
    kill(host, "SIGCONT");
  }
  const pid = net.ledger("deaf")?.child?.pid;
  kill(net.ledger("deaf")?.host?.pid ?? null);
  const orphaned = {
    code: 1,
    stdout: "",
    stderr: `convoy: box.deaf runs without its session host (pid ${pid}): its screen is gone
  next: convoy restart box.deaf --network ${net.root}\n`,
  };
  await until("the host to be gone", async () => (await net.convoy(["peek", "deaf"])).code === 1);
  expect(await net.convoy(["peek", "deaf"])).toEqual(orphaned);
  expect(await net.convoy(["logs", "deaf", "-f"])).toEqual(orphaned);
});

test("what cannot be shown is named", async () => {
  net.declare("a");
  net.declare("far", { host: "shed" });
  expect(await net.convoy(["peek", "b"])).toEqual({
    code: 3,
    stdout: "",
    stderr: `convoy: no agent "b" in ${net.root}\n  next: convoy ls --network ${net.root}\n`,
  });
  expect(await net.convoy(["logs", "a"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `convoy: a has no session here: no session\n  next: convoy ls --network ${net.root}\n`,
  });
  expect((await net.convoy(["peek", "far"])).stderr).toContain(
    "far has no session here: declared for host shed",
  );
  for (const words of [
    ["logs", "a", "-f", "--previous"],
    ["logs", "a", "-f", "--json"],
    ["peek", "a", "-f", "--json"],
    ["peek"],
  ])
    expect([words, (await net.convoy(words)).code]).toEqual([words, 2]);
});

/**
 * Measures terminals, convoy's sessions beside those of pty's own program: `bun scripts/bench-terminal.ts [MB] [rounds]`
 * after `scripts/build` and `scripts/setup-pty.sh`. The two take turns, round by round. Prints one JSON object per figure:
 * median, minimum and maximum of the rounds, and how ours compares.
 */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { connectSession, type SessionClient } from "../src/session-host/client.ts";
import { until } from "../test/e2e/kit.ts";
import { PtyNet } from "../test/pty/kit.ts";

const MB = 1024 * 1024;
const megabytes = Number(process.argv[2] ?? 100);
const rounds = Number(process.argv[3] ?? 5);
/** A host collects its garbage once it has been quiet for a second. */
const QUIET_MS = 3_000;
const PEEKS = 10;
const LAST = "the last line";

type Side = "convoy" | "pty";
type Lines = (index: number) => string;

const WORKLOADS: Readonly<Record<string, Lines>> = {
  plain: (index) => `${String(index).padStart(7, "0")} ${"some words of a program's log ".repeat(2)}`,
  coloured: (index) =>
    `\x1b[3${index % 8}m${String(index).padStart(7, "0")}\x1b[0m \x1b[1mname\x1b[22m=\x1b[38;5;${index % 256}mvalue\x1b[39m wide 漢字 ─┐`,
};

const net = new PtyNet();

/** A file of whole lines, and a script that prints it when it is told to. */
function program(name: string, lines: Lines): string {
  const file = join(net.home, name);
  if (!existsSync(file)) {
    const output = openSync(file, "w");
    let written = 0;
    for (let index = 0; written < megabytes * MB; ) {
      let block = "";
      for (const end = index + 1_000; index < end; index++) block += `${lines(index)}\n`;
      written += writeSync(output, block);
    }
    closeSync(output);
  }
  return `stty -echo; echo ready; read go; cat ${file}; echo ${LAST}; exec sleep 1000`;
}

interface Session {
  readonly hostPid: number;
  readonly socket: string;
  readonly peek: () => Promise<string>;
  readonly end: () => Promise<unknown>;
}

async function start(side: Side, name: string, script: string): Promise<Session> {
  if (side === "convoy") {
    net.declare(name, { command: script });
    await net.once();
    await net.running(name);
    return {
      hostPid: net.ledger(name)!.host!.pid,
      socket: join(net.pty, `box.${name}.sock`),
      peek: async () => (await net.convoy(["peek", name])).stdout,
      end: () => net.convoy(["down", "--agent", name]),
    };
  }
  const ran = await net.runPty(["run", "-d", "--name", name, "--", "sh", "-c", script]);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return {
    hostPid: Number(readFileSync(join(net.pty, `${name}.pid`), "utf8")),
    socket: join(net.pty, `${name}.sock`),
    peek: async () => (await net.runPty(["peek", "--plain", name])).stdout,
    end: () => net.runPty(["kill", name]),
  };
}

/** Attaches, says go, and reads to the end. Gives seconds. */
async function stream(session: Session): Promise<number> {
  const connected = await connectSession(session.socket);
  if (!connected.ok) throw new Error(connected.message);
  const client: SessionClient = connected.session;
  let tail = "";
  let bytes = 0;
  const done = new Promise<void>((resolve) => {
    client.onMessage((message) => {
      if (message.kind !== "data" && message.kind !== "screen") return;
      bytes += message.bytes.length;
      tail = (tail + Buffer.from(message.bytes.subarray(-LAST.length - 2)).toString()).slice(-200);
      if (tail.includes(LAST)) resolve();
    });
  });
  await client.send({ kind: "attach", size: { rows: 24, cols: 80 } });
  await until("the program", async () => tail.includes("ready"));
  const began = performance.now();
  await client.sendData(Buffer.from("go\r"));
  await done;
  const seconds = (performance.now() - began) / 1_000;
  client.close();
  if (bytes < megabytes * MB) throw new Error(`only ${bytes} bytes arrived`);
  return seconds;
}

const cpuSeconds = (pid: number) => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
};
const pssMegabytes = (pid: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) / 1_024;

async function timed(body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

const round = (value: number) => Math.round(value * 100) / 100;

function summary(values: readonly number[]): { median: number; min: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => round(sorted[index]!);
  return { median: at(Math.floor((sorted.length - 1) / 2)), min: at(0), max: at(sorted.length - 1) };
}

const figures = new Map<string, Record<Side, number[]>>();
function note(figure: string, side: Side, value: number): void {
  const both = figures.get(figure) ?? { convoy: [], pty: [] };
  both[side].push(value);
  figures.set(figure, both);
}

async function measure(side: Side, workload: string, number: number): Promise<void> {
  const session = await start(side, `${side}-${workload}-${number}`, program(workload, WORKLOADS[workload]!));
  const before = cpuSeconds(session.hostPid);
  const seconds = await stream(session);
  note(`${workload}: MB per second to a reader`, side, megabytes / seconds);
  note(
    `${workload}: CPU seconds of the host per 100 MB`,
    side,
    ((cpuSeconds(session.hostPid) - before) * 100) / megabytes,
  );
  await Bun.sleep(QUIET_MS);
  note(`${workload}: MB (PSS) of the host afterwards`, side, pssMegabytes(session.hostPid));
  for (let peek = 0; peek < PEEKS; peek++) {
    note(
      `${workload}: ms for a peek`,
      side,
      await timed(async () => {
        const shown = await session.peek();
        if (!shown.includes(LAST)) throw new Error(`${side} shows ${shown}`);
      }),
    );
  }
  await session.end();
}

try {
  for (let number = 0; number < rounds; number++)
    for (const workload of Object.keys(WORKLOADS))
      for (const side of ["convoy", "pty"] as const) await measure(side, workload, number);
  for (const [figure, { convoy, pty }] of figures) {
    const [ours, theirs] = [summary(convoy), summary(pty)];
    const ratio = round(ours.median / theirs.median);
    process.stdout.write(`${JSON.stringify({ figure, convoy: ours, pty: theirs, ratio })}\n`);
  }
  process.stdout.write(`${JSON.stringify({ megabytes, rounds, load: loadavg().map(round) })}\n`);
} finally {
  await net.remove();
}

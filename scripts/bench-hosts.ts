/**
 * Measures session hosts: `bun scripts/bench-hosts.ts [hosts] [seconds]` with `CONVOY_TEST_HOST` naming a binary that
 * knows `__session-host` (without it, the host runs from source). Prints one JSON object per phase.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { CHECK_MS } from "../src/session-host/keeper.ts";
import { holdLifeLine, makeLifeLine, supervisorLinePath } from "../src/session-host/life-line.ts";
import { createHostNetwork, until } from "../test/fakes/host-network.ts";

const count = Number(process.argv[2] ?? 50);
const idleSeconds = Number(process.argv[3] ?? 60);

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const pssKb = (pid: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
/** Time on a CPU of all its threads, in milliseconds. */
function cpuMs(pid: number): number {
  const tasks = [...new Bun.Glob("*/schedstat").scanSync({ cwd: `/proc/${pid}/task`, onlyFiles: false })];
  return (
    sum(tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}`, "utf8").split(" ")[0]))) / 1e6
  );
}
const say = (phase: string, figures: object) =>
  process.stdout.write(`${JSON.stringify({ phase, ...figures })}\n`);
const megabytes = (kb: number) => Math.round((kb / 1024) * 100) / 100;

async function measureIdle(phase: string, hosts: number[]): Promise<void> {
  const before = hosts.map(cpuMs);
  await Bun.sleep(idleSeconds * 1000);
  const used = hosts.map((pid, index) => cpuMs(pid) - before[index]!);
  const mean = sum(used) / hosts.length;
  say(phase, {
    seconds: idleSeconds,
    meanMs: mean,
    maxMs: Math.max(...used),
    percentOfACore: mean / idleSeconds / 10,
  });
}

const network = createHostNetwork();
try {
  const names = Array.from({ length: count }, (_, index) => `h${index}`);
  const script =
    'read go; seq -f "line %g of a program that prints a good deal of text" 1 10000; exec sleep 1000';
  const began = performance.now();
  const started = await Promise.all(names.map((name) => network.start(name, script)));
  const hosts = started.map(({ hostPid }) => hostPid);
  say("started", {
    hosts: count,
    ms: Math.round(performance.now() - began),
    cpuMsEach: sum(hosts.map(cpuMs)) / count,
  });
  await Bun.sleep(2000);
  say("idle", { pssMbEach: megabytes(sum(hosts.map(pssKb)) / count) });
  await measureIdle("idle, no supervisor", hosts);
  const line = supervisorLinePath(network.registry);
  makeLifeLine(line);
  holdLifeLine(line);
  await Bun.sleep(CHECK_MS + 1_000);
  await measureIdle("idle, under a supervisor", hosts);
  for (const name of names) {
    const client = await network.connect(name);
    await client.sendData(Buffer.from("go\r"));
    await until(`10,000 lines of ${name}`, async () => {
      const other = await network.connect(name);
      const answer = await other.peek({ plain: true, full: true });
      other.close();
      return answer.ok && Buffer.from(answer.screen).toString().includes("line 10000 of");
    });
    client.close();
  }
  await Bun.sleep(4000);
  const pss = hosts.map(pssKb);
  say("printed 10,000 lines and peeked", {
    pssMbEach: megabytes(sum(pss) / count),
    worst: megabytes(Math.max(...pss)),
  });
  say("cpu in all", { cpuMsEach: sum(hosts.map(cpuMs)) / count });
} finally {
  await network.close();
}

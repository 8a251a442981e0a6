/**
 * Measures session hosts: `bun scripts/bench-hosts.ts [hosts] [seconds]` with `CONVOY_TEST_HOST` naming a binary that
 * knows `__session-host` (without it, the host runs from source). Prints one JSON object per phase.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { createHostNetwork, until } from "../test/fakes/host-network.ts";

const count = Number(process.argv[2] ?? 50);
const idleSeconds = Number(process.argv[3] ?? 60);
const TICKS_PER_SECOND = 100;

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
function statCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
const say = (phase: string, figures: object) =>
  process.stdout.write(`${JSON.stringify({ phase, ...figures })}\n`);
const megabytes = (kb: number) => Math.round((kb / 1024) * 100) / 100;

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
  const before = hosts.map(cpuMs);
  const beforeStat = hosts.map(statCpuMs);
  await Bun.sleep(idleSeconds * 1000);
  const used = hosts.map((pid, index) => cpuMs(pid) - before[index]!);
  say("idle cpu", {
    seconds: idleSeconds,
    meanMs: sum(used) / count,
    maxMs: Math.max(...used),
    percentOfACore: (sum(used) / count / idleSeconds / 1000) * 100,
    statMeanMs: sum(hosts.map((pid, index) => statCpuMs(pid) - beforeStat[index]!)) / count,
  });
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

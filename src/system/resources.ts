/** What a process uses: memory now, and the share of a processor over its life, as `ps` counts them. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import { outputOf } from "./processes.ts";

/** Members and units are those of pty's STATUS answer (docs/protocol.md). */
export interface ProcessResources {
  /** Resident memory in KiB. */
  readonly rssKb: number;
  /** Processor time over time since its start, in percent of one processor, to a tenth. */
  readonly cpuPercent: number;
}

/** Linux counts processor time and births in ticks of 10 ms, on every architecture that it runs on here. */
const TICKS_PER_SECOND = 100;
const FIELDS_BEHIND_NAME = { userTicks: 11, systemTicks: 12, bornTicks: 19 };

/** What the living process `pid` uses; null when it is gone or may not be looked at. */
export function resourcesOf(pid: number): ProcessResources | null {
  if (process.platform === "darwin")
    return parsePsResources(outputOf(["/bin/ps", "-o", "rss=,%cpu=", "-p", String(pid)]));
  try {
    const read = (path: string) => readFileSync(path, "utf8");
    return parseProcResources(read(`/proc/${pid}/stat`), read(`/proc/${pid}/status`), read("/proc/uptime"));
  } catch (error) {
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

/** From the texts of /proc/<pid>/stat, /proc/<pid>/status and /proc/uptime; null for a zombie, which has no memory. */
export function parseProcResources(stat: string, status: string, uptime: string): ProcessResources | null {
  const rssKb = Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const { userTicks, systemTicks, bornTicks } = FIELDS_BEHIND_NAME;
  const used = Number(fields[userTicks]) + Number(fields[systemTicks]);
  const lived = Number.parseFloat(uptime) * TICKS_PER_SECOND - Number(fields[bornTicks]);
  if ([rssKb, used, lived].some(Number.isNaN)) return null;
  return { rssKb, cpuPercent: lived > 0 ? toTenth((100 * used) / lived) : 0 };
}

/** From what `ps -o rss=,%cpu=` prints of one process. */
export function parsePsResources(line: string): ProcessResources | null {
  const [rss, cpu] = line.trim().split(/\s+/);
  if (rss === undefined || cpu === undefined) return null;
  const [rssKb, percent] = [Number(rss), Number(cpu.replace(",", "."))];
  return Number.isNaN(rssKb) || Number.isNaN(percent) ? null : { rssKb, cpuPercent: toTenth(percent) };
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

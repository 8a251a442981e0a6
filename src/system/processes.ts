/**
 * Who a pid is: pid, start time and boot together name a process; a zombie is dead.
 * Linux reads /proc; Darwin asks `ps` and `sysctl` (the Darwin half has not been run).
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { errnoOf } from "../errors.ts";
import type { Identification, ProcessIdentity } from "../session.ts";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Opaque birth mark, as in `ProcessIdentity`. */
  readonly start: string;
  readonly zombie: boolean;
  readonly name: string;
}

export interface ProcessTable {
  /** Boot id of this machine. */
  boot(): string;
  /** The row of one process, null when there is none, "hidden" when it exists and may not be looked at. */
  row(pid: number): ProcessRow | null | "hidden";
  /** Every process that can be seen. */
  rows(): ProcessRow[];
  /** Environment of a process as `NAME=value` strings; null when it cannot be read. */
  environment(pid: number): string[] | null;
  /** Argument list of a process; null when it cannot be read, empty for a kernel's own. */
  commandLine(pid: number): string[] | null;
}

/** Parses /proc/<pid>/stat; the name may hold spaces and parentheses. Null when the text is not such a line. */
export function parseStat(text: string): ProcessRow | null {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).split(" ");
  const pid = Number.parseInt(text, 10);
  const parent = Number(fields[1]);
  const start = fields[19];
  if (!Number.isInteger(pid) || !Number.isInteger(parent) || start === undefined) return null;
  const state = fields[0] ?? "";
  return { pid, parent, start, zombie: /[ZXx]/.test(state), name: text.slice(open + 1, close) };
}

function signalZero(pid: number): "exists" | "gone" {
  try {
    process.kill(pid, 0);
    return "exists";
  } catch (error) {
    return errnoOf(error) === "ESRCH" ? "gone" : "exists";
  }
}

let bootId: string | null = null;

/** A boot id never changes under a running process, so it is read once. */
function rememberBoot(read: () => string): string {
  bootId ??= read();
  return bootId;
}

const linux: ProcessTable = {
  boot: () => rememberBoot(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  row(pid) {
    try {
      return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return signalZero(pid) === "gone" ? null : "hidden";
    }
  },
  rows() {
    const rows: ProcessRow[] = [];
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const row = linux.row(Number(name));
      if (row !== null && row !== "hidden") rows.push(row);
    }
    return rows;
  },
  environment(pid) {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    } catch {
      return null;
    }
  },
  commandLine(pid) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    } catch {
      return null;
    }
  },
};

/** Parses one line of `ps -o pid=,ppid=,stat=,lstart=,comm=` (lstart is five words). */
export function parsePsLine(line: string): ProcessRow | null {
  const words = line.trim().split(/\s+/);
  if (words.length < 9) return null;
  const pid = Number(words[0]);
  const parent = Number(words[1]);
  if (!Number.isInteger(pid) || !Number.isInteger(parent)) return null;
  const zombie = (words[2] ?? "").startsWith("Z");
  return { pid, parent, start: words.slice(3, 8).join(" "), zombie, name: words.slice(8).join(" ") };
}

/** What a system program prints. */
export function outputOf(command: readonly string[]): string {
  return Bun.spawnSync([...command], { env: { LC_ALL: "C" }, stderr: "ignore" }).stdout.toString();
}

function ps(args: readonly string[]): string {
  return outputOf(["/bin/ps", ...args]);
}

const PS_COLUMNS = "pid=,ppid=,stat=,lstart=,comm=";

const darwin: ProcessTable = {
  boot: () => rememberBoot(() => outputOf(["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]).trim()),
  row(pid) {
    const row = parsePsLine(ps(["-o", PS_COLUMNS, "-p", String(pid)]));
    return row ?? (signalZero(pid) === "gone" ? null : "hidden");
  },
  rows: () =>
    ps(["-axo", PS_COLUMNS])
      .split("\n")
      .map(parsePsLine)
      .filter((row) => row !== null),
  environment(pid) {
    const text = ps(["-E", "-ww", "-o", "command=", "-p", String(pid)]).trim();
    return text === "" ? null : text.split(" ");
  },
  commandLine(pid) {
    const text = ps(["-ww", "-o", "command=", "-p", String(pid)]).trim();
    return text === "" ? null : text.split(" ");
  },
};

export const processTable: ProcessTable = process.platform === "darwin" ? darwin : linux;

/**
 * Whether the process that was recorded is the one that now has its pid.
 * `boot` is the boot id under which it was recorded: another boot means that it is gone, whatever its pid says.
 */
export function identify(
  recorded: ProcessIdentity,
  boot: string,
  table: ProcessTable = processTable,
): Identification {
  if (boot !== table.boot()) return "not-ours";
  const row = table.row(recorded.pid);
  if (row === null) return "not-ours";
  if (row === "hidden") return "unknown";
  return !row.zombie && row.start === recorded.start ? "ours" : "not-ours";
}

/** The identity of a living process; null when it is gone or hidden. */
export function identityOf(pid: number, table: ProcessTable = processTable): ProcessIdentity | null {
  const row = table.row(pid);
  return row === null || row === "hidden" || row.zombie ? null : { pid, start: row.start };
}

/** Linux counts births in ticks of 10 ms since the machine started, on every architecture that it runs on here. */
const TICK_MS = 10;

/** When this machine started, by the wall clock as it now is set, in ms; null when it cannot be told. About 1 s exact. */
export function bootTimeMs(): number | null {
  if (process.platform === "darwin") {
    const text = outputOf(["/usr/sbin/sysctl", "-n", "kern.boottime"]);
    const seconds = /sec = (\d+)/.exec(text)?.[1];
    return seconds === undefined ? null : Number(seconds) * 1000;
  }
  const seconds = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** When a process was born, as `bootTimeMs` measures; null when it cannot be told. */
export function startTimeMs(row: ProcessRow): number | null {
  if (process.platform === "darwin") {
    const born = Date.parse(row.start);
    return Number.isNaN(born) ? null : born;
  }
  const booted = bootTimeMs();
  return booted === null ? null : booted + Number(row.start) * TICK_MS;
}

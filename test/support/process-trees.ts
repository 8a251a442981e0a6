/** Real process trees for tests: stand-ins for agents and hosts, every one of which carries one test's marker. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import type { ProcessIdentity } from "../../src/session.ts";
import { systemClock } from "../../src/system/clock.ts";
import { identityOf, type ProcessRow, processTable } from "../../src/system/processes.ts";

/** Waits for a condition, ten seconds at most. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${condition}`);
    await systemClock.sleep(5);
  }
}

export class ProcessTrees {
  /** In the environment of everything started here, whatever else it sheds. */
  readonly marker = `CONVOY_TEST_MARKER=${randomBytes(6).toString("hex")}`;
  readonly stRoot = `/tmp/cv-none-${randomBytes(4).toString("hex")}/smalltalk`;

  /** Living processes that carry the marker. */
  marked(): ProcessRow[] {
    return processTable
      .rows()
      .filter((row) => !row.zombie && processTable.environment(row.pid)?.includes(this.marker));
  }

  async endAll(): Promise<void> {
    await until(() => {
      const left = this.marked();
      for (const { pid } of left) if (identityOf(pid) !== null) process.kill(pid, "SIGKILL");
      return left.length === 0;
    });
  }

  /** Starts a shell script as the agent of `session`; resolves when it has printed `ready`. */
  async startAgent(session: string, script: string): Promise<ProcessIdentity> {
    return identified(await this.startShell(script, { PTY_SESSION: session, ST_ROOT: this.stRoot }));
  }

  /** Starts a stand-in for a session host: without the session's mark, its agent below it; leaves with it. */
  async startHost(session: string, script: string) {
    const quoted = `'${script.replaceAll("'", "'\\''")}'`;
    const wiring = `PTY_SESSION=${session} ST_ROOT=${this.stRoot}`;
    const host = await this.startShell(`env ${wiring} sh -c ${quoted}; exit`, {});
    const child = processTable.rows().find((row) => row.parent === host);
    return { host: identified(host), child: identified(child?.pid ?? 0) };
  }

  /** Starts a shell script that is no session's. */
  async startBystander(script: string): Promise<ProcessIdentity> {
    return identified(await this.startShell(script, {}));
  }

  /** Waits until `pid` has become `sleep`: a shell says that it is ready before it executes that. */
  async untilAsleep(pid: number): Promise<void> {
    await until(() => {
      const row = processTable.row(pid);
      return row !== null && row !== "hidden" && row.name === "sleep";
    });
  }

  private async startShell(script: string, env: Record<string, string>): Promise<number> {
    const [name = "", value = ""] = this.marker.split("=");
    const shell = Bun.spawn(["sh", "-c", script], {
      env: { PATH: process.env.PATH ?? "", [name]: value, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const reader = shell.stdout.getReader();
    let text = "";
    while (!text.includes("ready\n")) {
      const { value: bytes, done } = await reader.read();
      if (done) throw new Error(`the script ended before it was ready: ${script}`);
      text += new TextDecoder().decode(bytes);
    }
    return shell.pid;
  }
}

function identified(pid: number): ProcessIdentity {
  const identity = identityOf(pid);
  if (identity === null) throw new Error(`no process ${pid}`);
  return identity;
}

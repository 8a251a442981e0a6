/** A throw-away registry folder in which real session hosts run real programs; ended and removed by `close`. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Ledger } from "../../src/ledger.ts";
import type { LaunchRequest } from "../../src/next-ledger.ts";
import { createSessionFiles } from "../../src/registry/session-files.ts";
import type { SessionRecord } from "../../src/session.ts";
import { connectSession, type SessionClient } from "../../src/session-host/client.ts";
import { createLauncher, type LaunchResult } from "../../src/session-host/launch.ts";
import { sessionPaths } from "../../src/system/paths.ts";
import { identify, identityOf } from "../../src/system/processes.ts";
import { ledgerFixture } from "./ledgers.ts";

const ENTRY = join(import.meta.dir, "..", "fixtures", "host-entry.ts");
export const HOST_COMMAND: readonly string[] =
  process.env.CONVOY_TEST_HOST === undefined ? [process.execPath, ENTRY] : [process.env.CONVOY_TEST_HOST];

export type HostNetwork = ReturnType<typeof createHostNetwork>;

/** Waits until `condition` gives something; fails after `timeoutMs`, naming `what`. */
export async function until<T>(
  what: string,
  condition: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const found = await condition();
    if (found !== null && found !== undefined && found !== false) return found;
    await Bun.sleep(5);
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`);
}

export function createHostNetwork() {
  const root = mkdtempSync("/tmp/cv-");
  const registry = join(root, "pty");
  mkdirSync(registry, { mode: 0o700 });
  const files = createSessionFiles(registry);
  const names = new Set<string>();
  const clients = new Set<SessionClient>();
  const hosts: { pid: number; start: string; boot: string }[] = [];
  const held = new Set<string>();
  let look: "dead" | "alive" | "unknown" = "dead";

  const launcher = createLauncher({
    registry,
    files,
    isHeld: async (busId) => held.has(busId),
    lastLook: async () => look,
    version: "0.0.0-test",
    hostCommand: HOST_COMMAND,
  });

  const ledger = (name: string): Ledger => {
    const found = files.readLedger(name);
    if (found === null) throw new Error(`no ledger ${name}`);
    return found;
  };
  const noteProcesses = (name: string) => {
    const { host, child, boot } = ledger(name);
    for (const one of [host, child]) if (one !== null) hosts.push({ ...one, boot });
  };

  return {
    root,
    registry,
    files,
    launcher,
    held,
    ledger,
    setLook: (answer: typeof look) => {
      look = answer;
    },
    paths: (name: string) => sessionPaths(registry, name),
    record: (name: string): SessionRecord =>
      JSON.parse(readFileSync(sessionPaths(registry, name).record, "utf8")) as SessionRecord,
    events: (name: string): Record<string, unknown>[] => {
      const path = sessionPaths(registry, name).events;
      if (!existsSync(path)) return [];
      // What follows the last line end is being written.
      const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },

    /** Launches `script` with `sh -c` as session `name`. */
    async launch(name: string, script: string, members: Partial<LaunchRequest> = {}): Promise<LaunchResult> {
      names.add(name);
      const { spec } = ledgerFixture(name);
      const result = await launcher.launch({
        spec: { ...spec, command: "/bin/sh", args: ["-c", script], cwd: root },
        declaration: null,
        baseEnv: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: root },
        freshEnv: false,
        tags: {},
        ...members,
      });
      if (files.readLedger(name) !== null) noteProcesses(name);
      return result;
    },

    /** Launches and expects the program to run. */
    async start(name: string, script: string): Promise<{ pid: number; hostPid: number }> {
      const result = await this.launch(name, script);
      if (result.result !== "started") throw new Error(`${name}: ${JSON.stringify(result)}`);
      return result;
    },

    async connect(name: string): Promise<SessionClient> {
      const connected = await connectSession(sessionPaths(registry, name).socket);
      if (!connected.ok) throw new Error(connected.message);
      clients.add(connected.session);
      return connected.session;
    },

    /** The screen as plain text, from a connection of its own. */
    async text(name: string, full = false): Promise<string> {
      const session = await this.connect(name);
      const answer = await session.peek({ plain: true, full });
      session.close();
      if (!answer.ok) throw new Error(answer.message);
      return Buffer.from(answer.screen).toString();
    },

    async untilText(name: string, wanted: string): Promise<string> {
      let last = "";
      return await until(`"${wanted}" on the screen of ${name}`, async () => {
        last = await this.text(name, true);
        return last.includes(wanted) ? last : null;
      });
    },

    /** Waits until the host of `name` has written its end and left. */
    async untilGone(name: string): Promise<Ledger> {
      const { host, boot } = ledger(name);
      await until(`the host of ${name} to leave`, () => host === null || identify(host, boot) === "not-ours");
      return ledger(name);
    },

    async close(): Promise<void> {
      for (const client of clients) client.close();
      for (const name of names) if (files.readLedger(name) !== null) noteProcesses(name);
      for (const one of hosts) if (identify(one, one.boot) === "ours") process.kill(one.pid, "SIGKILL");
      await until("every process to end", () =>
        hosts.every((one) => identityOf(one.pid)?.start !== one.start),
      );
      rmSync(root, { recursive: true, force: true });
    },
  };
}

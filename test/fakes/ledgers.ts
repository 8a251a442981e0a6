/** Whole ledgers and records for tests; each test names only what it is about. */
import type { Ledger } from "../../src/ledger.ts";
import type { SessionRecord } from "../../src/session.ts";

export const LAUNCHED_AT = "2026-11-30T10:00:00.000Z";

export function ledgerFixture(name: string, members: Partial<Ledger> = {}): Ledger {
  return {
    v: 1,
    agent: `box.${name}`,
    identity: name,
    task: "agent",
    host: null,
    child: null,
    socket: null,
    boot: "boot-1",
    version: "0.1.0",
    protocol: 1,
    launchId: `launch-${name}`,
    launchedAt: LAUNCHED_AT,
    declaration: null,
    spec: {
      name,
      agent: `box.${name}`,
      identity: name,
      task: "agent",
      main: true,
      command: "sh",
      args: ["-c", "exec sleep 1"],
      displayCommand: "sleep 1",
      cwd: "/",
      env: {},
      tags: { role: "agent" },
      binary: null,
    },
    baseEnv: { PATH: "/usr/bin:/bin" },
    tags: { role: "agent" },
    tagsAt: LAUNCHED_AT,
    endedBy: null,
    terminated: false,
    restarts: 0,
    end: null,
    previous: [],
    reportedEnd: null,
    failedLaunch: false,
    ...members,
  };
}

export function recordFixture(members: Partial<SessionRecord> = {}): SessionRecord {
  return {
    command: "sh",
    args: ["-c", "exec sleep 1"],
    displayCommand: "sleep 1",
    cwd: "/",
    createdAt: LAUNCHED_AT,
    ...members,
  };
}

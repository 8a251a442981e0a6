import { expect, test } from "bun:test";
import { agentNote } from "./agent-note.ts";
import type { AgentRow } from "./agent-state.ts";

const row: AgentRow = {
  identity: "a",
  busId: "box.a",
  role: "worker",
  host: "box",
  state: "running",
  reason: "why",
  changed: false,
  session: "box.a",
  pid: 1,
  hostPid: 2,
  startedAt: null,
  exitCode: null,
  status: "running",
  restarts: 0,
  sessions: [],
};
const ended = { status: "exited" } as const;
const stray = { reason: "no declaration" } as const;

test.each<[Partial<AgentRow>, text: string, command: string | null]>([
  [{}, "", null],
  [{ changed: true }, "changed", "convoy restart a"],
  [{ state: "starting" }, "", null],
  [{ state: "orphaned" }, "no session host", "convoy restart a"],
  [{ state: "flapping", ...ended }, "", "convoy reset a"],
  [{ state: "held", ...ended }, "", "convoy release a"],
  [{ state: "held" }, "still runs", "convoy down --agent a"],
  [{ state: "elsewhere", host: "shed", status: null }, "on shed", null],
  [{ state: "elsewhere", host: "shed" }, "now on shed, runs here", "convoy down --agent a"],
  [{ state: "done", ...ended }, "", null],
  [{ state: "exited", ...ended }, "why", null],
  [{ state: "vanished", status: "vanished" }, "why", null],
  [{ state: "waiting", status: null }, "why", null],
  [{ state: "conflict" }, "why", null],
  [{ state: "unknown" }, "why", null],
  [{ state: "retired" }, "why", null],
  [stray, "no declaration", "convoy down --agent a"],
  [{ ...stray, ...ended, state: "exited" }, "no declaration", "convoy forget a"],
  [{ ...stray, ...ended, state: "held" }, "no declaration", "convoy release a"],
  [{ ...stray, state: "unknown" }, "no declaration; cannot tell whether it lives", null],
])("%j", (members, text, command) => {
  expect(agentNote({ ...row, ...members })).toEqual({ text, command });
});

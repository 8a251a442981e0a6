/** Every command, in the order of `convoy --help`. Each is loaded only when it is typed. */
import type { Command } from "./command.ts";

export interface TableRow {
  readonly name: string;
  /** One line, lower case, without a full stop. */
  readonly summary: string;
  load(): Promise<{ readonly default: Command }>;
}

export const COMMAND_TABLE: readonly TableRow[] = [
  { name: "init", summary: "create a network's folders", load: () => import("./commands/init.ts") },
  { name: "add", summary: "declare an agent, in a new file", load: () => import("./commands/add.ts") },
  {
    name: "retire",
    summary: "mark an agent as retired: its sessions end, it is not started again",
    load: () => import("./commands/retire.ts"),
  },
  {
    name: "unretire",
    summary: "let a retired agent run again",
    load: () => import("./commands/unretire.ts"),
  },
  {
    name: "validate",
    summary: "say every error and warning in the catalog",
    load: () => import("./commands/validate.ts"),
  },
  {
    name: "plan",
    summary: "say what the next pass would do, and why",
    load: () => import("./commands/plan.ts"),
  },
  {
    name: "up",
    summary: "supervise: start what is declared, bring back what dies",
    load: () => import("./commands/up.ts"),
  },
  {
    name: "down",
    summary: "end sessions: the one command that does",
    load: () => import("./commands/down.ts"),
  },
  {
    name: "ls",
    summary: "list every agent and session, and whether a supervisor runs",
    load: () => import("./commands/ls.ts"),
  },
  {
    name: "peek",
    summary: "show an agent's screen",
    load: () => import("./commands/peek.ts"),
  },
  {
    name: "logs",
    summary: "show what an agent printed",
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "attach",
    summary: "take an agent's terminal; Ctrl-\\ detaches",
    load: () => import("./commands/attach.ts"),
  },
  {
    name: "send",
    summary: "type into an agent's terminal",
    load: () => import("./commands/send.ts"),
  },
  {
    name: "events",
    summary: "say what happened",
    load: () => import("./commands/events.ts"),
  },
  {
    name: "restart",
    summary: "end an agent and start it again as it is declared now",
    load: () => import("./commands/restart.ts"),
  },
  {
    name: "reset",
    summary: "let a parked agent be tried again",
    load: () => import("./commands/reset.ts"),
  },
  {
    name: "release",
    summary: "let what `down` held run again",
    load: () => import("./commands/release.ts"),
  },
  {
    name: "forget",
    summary: "drop what is kept of an agent without a declaration",
    load: () => import("./commands/forget.ts"),
  },
  {
    name: "pretrust",
    summary: "let harnesses start in folders without asking for trust",
    load: () => import("./commands/pretrust.ts"),
  },
  {
    name: "service",
    summary: "let systemd or launchd keep a supervisor running",
    load: () => import("./commands/service.ts"),
  },
  {
    name: "doctor",
    summary: "say whether this machine can do it, with a fix for each fault",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "env",
    summary: "print shell exports with which pty's own program sees a network",
    load: () => import("./commands/env.ts"),
  },
  {
    name: "completions",
    summary: "print a script with which a shell completes convoy's command line",
    load: () => import("./commands/completions.ts"),
  },
];

/** What `convoy` alone does. */
export const DEFAULT_COMMAND = "ls";

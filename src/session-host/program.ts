/** The program that a session runs, in a terminal of its own. */
import { statSync } from "node:fs";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import type { SessionSpec } from "../ledger.ts";
import type { Size } from "../protocol.ts";
import { effect } from "../system/effects.ts";

export interface Program {
  readonly pid: number;
  /** The exit code, 128 + N when signal N ended it. Does not wait for others that hold its terminal. */
  readonly exited: Promise<{ readonly exitCode: number; readonly signal: string | null }>;
  /** Bytes written and not yet taken by the program's terminal. */
  outstanding(): number;
  write(bytes: Uint8Array | string): void;
  resize(size: Size): void;
  signal(name: "SIGHUP" | "SIGKILL"): void;
}

export interface ProgramEvents {
  /** Output; the terminal delivers no more until this returns. */
  output(bytes: Uint8Array): void;
  /** Nothing is outstanding any more. */
  drained(): void;
}

/** Starts the program of `spec`. Throws a `ConvoyError` that says why it cannot be started. */
export function startProgram(
  spec: SessionSpec,
  env: Readonly<Record<string, string>>,
  size: Size,
  events: ProgramEvents,
): Program {
  requireFolder(spec);
  let outstanding = 0;
  const child = spawnInTerminal(spec, {
    cwd: spec.cwd,
    env: { ...env },
    terminal: {
      ...size,
      name: env.TERM ?? "xterm-256color",
      data: (_terminal, bytes) => events.output(bytes),
      drain: () => {
        outstanding = 0;
        events.drained();
      },
    },
  });
  effect("agent-spawn");
  const terminal = child.terminal!;
  return {
    pid: child.pid,
    exited: child.exited.then((exitCode) => ({
      exitCode,
      signal: child.signalCode === null ? null : String(child.signalCode),
    })),
    outstanding: () => outstanding,
    write(bytes) {
      if (terminal.closed || bytes.length === 0) return;
      outstanding += typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
      terminal.write(bytes);
    },
    resize(next) {
      if (!terminal.closed) terminal.resize(next.cols, next.rows);
    },
    signal(name) {
      child.kill(name);
      effect(name === "SIGHUP" ? "signal-hup" : "signal-kill");
    },
  };
}

type TerminalSpawn = Bun.Spawn.SpawnOptions<"ignore", "ignore", "ignore">;

function spawnInTerminal(spec: SessionSpec, options: TerminalSpawn): Bun.Subprocess {
  try {
    return Bun.spawn([spec.command, ...spec.args], options);
  } catch (error) {
    const reason = errnoOf(error) === "ENOENT" ? "not found on the agent's PATH" : messageOf(error);
    throw new ConvoyError("failed", `cannot start ${spec.command}: ${reason}`);
  }
}

function requireFolder(spec: SessionSpec): void {
  const found = statSync(spec.cwd, { throwIfNoEntry: false });
  if (found === undefined) throw new ConvoyError("failed", `its folder ${spec.cwd} is not there`);
  if (!found.isDirectory()) throw new ConvoyError("failed", `${spec.cwd} is not a folder`);
}

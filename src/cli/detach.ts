/** `up --detach`: the same command in the background, with its own session and its output in `.convoy/up.log`. */
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import process from "node:process";
import { ConvoyError, EXIT_CODES } from "../errors.ts";
import { EventLogReader } from "../registry/event-log-reader.ts";
import { readSupervisor } from "../registry/supervisor-lock.ts";
import { effect } from "../system/effects.ts";
import type { NetworkPaths } from "../system/paths.ts";
import type { CommandContext } from "./command.ts";
import { sayFirstPass } from "./first-pass.ts";
import { heldByAnother } from "./held-by.ts";
import type { UpOptions } from "./up.ts";
import { ownCommand } from "./wiring.ts";

const START_WAIT_MS = 10_000;
const POLL_MS = 10;

/** Its own words are in the log, where those of another that started at the same moment may stand too. */
function endedAtOnce(exitCode: number, paths: NetworkPaths): ConvoyError {
  const holder = readSupervisor(paths);
  if (exitCode === EXIT_CODES.locked) return heldByAnother(paths, holder?.pid ?? null);
  return new ConvoyError(
    "failed",
    `the supervisor ended at once, with exit code ${exitCode}`,
    `see ${paths.upLog}`,
  );
}

/** The same `up` without --detach. */
function wordsOf(options: UpOptions): string[] {
  const words = ["--network", options.network, `--interval=${options.intervalMs / 1_000}`];
  if (options.fastFailWindow !== null) words.push(`--fast-fail-window=${options.fastFailWindow}`);
  if (options.fastFailLimit !== null) words.push(`--fast-fail-limit=${options.fastFailLimit}`);
  if (options.onEvent !== null) words.push(`--on-event=${options.onEvent}`);
  if (options.keepHolds) words.push("--keep-holds");
  if (options.json) words.push("--json");
  return words;
}

function requirePlainLog(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new ConvoyError("failed", `${path} is not a regular file`, "move it away");
}

/**
 * Returns once the supervisor holds the network's lock and has made its first pass, as far as that can be waited for;
 * its failure to start is this command's.
 */
export async function detachSupervisor(
  paths: NetworkPaths,
  options: UpOptions,
  { output, env, home, cwd }: Pick<CommandContext, "output" | "env" | "home" | "cwd">,
): Promise<number> {
  const holder = readSupervisor(paths);
  if (holder !== null) throw heldByAnother(paths, holder.pid);
  if (mkdirSync(paths.state, { recursive: true, mode: 0o700 }) !== undefined) effect("folder-create");
  requirePlainLog(paths.upLog);
  const events = new EventLogReader(paths.events);
  events.skip();
  const log = openSync(paths.upLog, "a", 0o600);
  effect("log-open");
  const supervisor = Bun.spawn([...ownCommand(), "up", ...wordsOf(options)], {
    argv0: "convoy",
    // Where a command for events runs; the supervisor itself leaves it at once.
    cwd: existsSync(cwd) ? cwd : "/",
    detached: true,
    stdio: ["ignore", log, log],
    // Typed inside a session, it is no part of that session.
    env: { ...process.env, PTY_SESSION: undefined, ST_ROOT: undefined, ST_AGENT: undefined },
  });
  effect("supervisor-spawn");
  closeSync(log);
  supervisor.unref();
  const deadline = performance.now() + START_WAIT_MS;
  while (readSupervisor(paths)?.pid !== supervisor.pid) {
    if (supervisor.exitCode !== null) throw endedAtOnce(supervisor.exitCode, paths);
    if (performance.now() > deadline)
      throw new ConvoyError(
        "failed",
        `the supervisor (pid ${supervisor.pid}) has not started`,
        `see ${paths.upLog}`,
      );
    await Bun.sleep(POLL_MS);
  }
  output.out(String(supervisor.pid));
  output.note(`Supervising ${paths.root} in the background, log in ${paths.upLog}.`);
  const hasEnded = () => supervisor.exitCode !== null || supervisor.signalCode !== null;
  const starting = { paths, pid: supervisor.pid, log: events, hasEnded };
  output.note(await sayFirstPass(starting, { env, home }));
  events.close();
  output.note(`  convoy ls${options.networkFlag}`);
  return 0;
}

/** Hands the real process to a command line: streams, environment, exit code. */
import { homedir } from "node:os";
import process from "node:process";
import { createOutput } from "./output.ts";
import { reportFailure, runCommandLine } from "./run.ts";
import { descriptorSink } from "./sink.ts";

/** Runs `words` and ends the process with the exit code. */
export async function startCommandLine(words: readonly string[]): Promise<never> {
  const { env } = process;
  const output = createOutput(descriptorSink(1), descriptorSink(2), env);
  const fail = (error: unknown) => process.exit(reportFailure(error, { output, env }));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  process.exit(await runCommandLine(words, { env, home: homedir(), cwd: process.cwd(), output }));
}

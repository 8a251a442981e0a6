/** Hands the real process to shell completion. */
import { homedir } from "node:os";
import process from "node:process";
import { completeLine } from "./completion-answer.ts";
import { createOutput } from "./output.ts";
import { reportFailure } from "./run.ts";
import { descriptorSink } from "./sink.ts";

/** Answers a shell; resolves to the exit code. A failure is silent: somebody is typing. `CONVOY_DEBUG=1` says it. */
export async function runComplete(words: readonly string[]): Promise<number> {
  const { env } = process;
  try {
    const answer = await completeLine(words, { env, home: homedir(), cwd: process.cwd() });
    descriptorSink(1).write(`${answer}\n`);
    return 0;
  } catch (error) {
    if (env.CONVOY_DEBUG !== "1") return 1;
    return reportFailure(error, { output: createOutput(descriptorSink(1), descriptorSink(2), env), env });
  }
}

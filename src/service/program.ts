/** Runs a program of the service manager's, and takes what it says. */
import { isDirectory } from "../system/programs.ts";

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A stop waits for the supervisor, which has half a minute. */
const TIMEOUT_MS = 120_000;

/** Resolves to its answer, or to why there is none, as a clause for a person. */
export async function runProgram(
  words: readonly string[],
  env: Environment,
): Promise<Answer | { readonly problem: string }> {
  const [program = ""] = words;
  if (Bun.which(program, { PATH: env.PATH ?? "" }) === null)
    return { problem: `there is no ${program} on PATH` };
  const child = startProgram(words, env);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.signalCode !== null) return { problem: `${words.join(" ")} was ended by ${child.signalCode}` };
  return { code, stdout, stderr };
}

/** What of an answer to show: its first line on stderr, else its exit code. */
export function faultOf(words: readonly string[], { code, stderr }: Answer): string {
  const [line = ""] = stderr.trim().split("\n");
  return `${words.join(" ")}: ${line === "" ? `exit code ${code}` : line}`;
}

function startProgram(words: readonly string[], env: Environment) {
  return Bun.spawn([...words], {
    env: withRuntimeFolder(env),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
  });
}

/** A shell from `su` or `sudo` lacks the variable by which systemd's user manager is found. */
function withRuntimeFolder(env: Environment): Environment {
  const folder = `/run/user/${process.getuid?.() ?? 0}`;
  if (env.XDG_RUNTIME_DIR || !isDirectory(folder)) return env;
  return { ...env, XDG_RUNTIME_DIR: folder };
}

/** Asks a program of the machine's for one thing, and waits no longer than a person would. */

const TIMEOUT_MS = 10_000;

/** What it printed, when it ended well; null otherwise. */
export async function ask(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const [program = ""] = words;
  if (!program.startsWith("/") && Bun.which(program, { PATH: env.PATH ?? "" }) === null) return null;
  const child = startAsking(words, env);
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return code === 0 ? text.trim() : null;
}

function startAsking(words: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  return Bun.spawn([...words], {
    env,
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
}

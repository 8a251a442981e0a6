/**
 * The program. Only what the first word asks for is loaded: start-up time is a feature, and so is the memory of a
 * session host, which is this same binary.
 */
import process from "node:process";

const words = process.argv.slice(2);

// `__session-host <registry> <name>` branches off here, before anything of the command line is loaded:
// if (words[0] === "__session-host") await (await import("./host-main.ts")).runHost(words[1], words[2]); else
await runCli();

async function runCli(): Promise<void> {
  const { startCommandLine } = await import("./start.ts");
  await startCommandLine(words);
}

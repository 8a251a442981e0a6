/**
 * The program. Only what the first word asks for is loaded: start-up time is a feature, and so is the memory of a
 * session host, which is this same binary.
 */
import process from "node:process";

const words = process.argv.slice(2);

const [first, registry, name] = words;
if (first === "__session-host" && registry !== undefined && name !== undefined) {
  const { runHost } = await import("./host-main.ts");
  process.exit(await runHost(registry, name));
}
if (first === "__complete") {
  const { runComplete } = await import("./complete-main.ts");
  process.exit(await runComplete(words.slice(1)));
}
await runCli();

async function runCli(): Promise<void> {
  const { startCommandLine } = await import("./start.ts");
  await startCommandLine(words);
}

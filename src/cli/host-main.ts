/** `convoy __session-host <registry> <name>`: joins the session host to the registry's files, and runs it. */
import process from "node:process";
import { createSessionFiles } from "../registry/session-files.ts";
import { runSessionHost } from "../session-host/host.ts";
import { VERSION } from "../version.ts";

/** Runs one session to its end; resolves to the process's exit code. */
export async function runHost(registry: string, name: string): Promise<number> {
  process.title = `convoy ${name}`;
  return await runSessionHost({ registry, name, files: createSessionFiles(registry), version: VERSION });
}

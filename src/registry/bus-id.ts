/**
 * Whose a session is, by formats §4's order without its first step (names that declarations compile to): ledger, tag
 * `convoy.agent`, then `ST_AGENT` in the record's `env`, its `extraEnv`, the manifest that its `ptyfile` tags name,
 * and last the environment of its living program.
 */
import { parse } from "smol-toml";
import { isJsonObject } from "../json-members.ts";
import type { Ledger } from "../ledger.ts";
import type { SessionRecord } from "../session.ts";
import type { ProcessTable } from "../system/processes.ts";
import { readText } from "./files.ts";

/** The bus id, or null when nothing names one. `childPid`: a living program of the session, if one is known. */
export function findBusId(
  ledger: Ledger | null,
  record: SessionRecord | null,
  childPid: number | null,
  table: ProcessTable,
): string | null {
  const named =
    ledger?.agent ??
    record?.tags?.["convoy.agent"] ??
    record?.env?.ST_AGENT ??
    record?.extraEnv?.ST_AGENT ??
    manifestAgent(record?.tags ?? {});
  if (named) return named;
  return childPid === null ? null : agentIn(table.environment(childPid));
}

/** A manifest that is gone or does not parse names nobody; it belongs to pty, which reports it. */
function manifestAgent(tags: Readonly<Record<string, string>>): string | null {
  const path = tags.ptyfile;
  const session = tags["ptyfile.session"];
  if (path === undefined || session === undefined) return null;
  const file = readText(path);
  if (file.state !== "read") return null;
  let manifest: unknown;
  try {
    manifest = parse(file.text);
  } catch {
    return null;
  }
  return memberOf(["sessions", session, "env", "ST_AGENT"], manifest);
}

function memberOf(path: readonly string[], value: unknown): string | null {
  let found = value;
  for (const key of path) found = isJsonObject(found) ? found[key] : undefined;
  return typeof found === "string" ? found : null;
}

function agentIn(environment: readonly string[] | null): string | null {
  return environment?.find((line) => line.startsWith("ST_AGENT="))?.slice("ST_AGENT=".length) || null;
}

/** What systemd's user manager says of a unit, and whether it outlives a person's last logout. */
import { readdirSync } from "node:fs";
import { errnoOf } from "../errors.ts";
import type { ServiceRun } from "../service-status.ts";
import { parseUnitState, UNIT_PROPERTIES } from "../systemd-state.ts";
import { faultOf, runProgram } from "./program.ts";

/** A file for each user who lingers (systemd-logind). */
const LINGER_FOLDER = "/var/lib/systemd/linger";

export async function lookAtUnit(
  unit: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ServiceRun | { readonly problem: string }> {
  const words = ["systemctl", "--user", "show", unit, `--property=${UNIT_PROPERTIES.join(",")}`];
  const answer = await runProgram(words, env);
  if ("problem" in answer) return answer;
  if (answer.code !== 0)
    return { problem: `no user manager of systemd answers: ${faultOf(words.slice(0, 3), answer)}` };
  return parseUnitState(answer.stdout);
}

/** Null where it cannot be told. */
export function readLingering(user: string): boolean | null {
  try {
    return readdirSync(LINGER_FOLDER).includes(user);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return false;
    if (errno === null) throw error;
    return null;
  }
}

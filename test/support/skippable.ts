/**
 * Tests of what not every machine can do. Where something is missing such a test counts as neither passed nor failed,
 * and `skipped: …` says why: at once, and by scripts/test above its total.
 */
import { test } from "bun:test";
import { appendFileSync } from "node:fs";
import process from "node:process";

/** A file that scripts/test shows at its end; not set when a test file is run by hand. */
const REASONS = process.env.CONVOY_TEST_NOTES;

/** `missing` says what this machine has not got, as a phrase; null when the test can run. */
export function skippable(
  name: string,
  missing: string | null,
  body: () => void | Promise<void>,
  timeoutMs?: number,
): void {
  if (missing !== null) {
    const reason = `skipped: ${name}: ${missing}`;
    console.log(reason);
    if (REASONS) appendFileSync(REASONS, `${reason}\n`);
  }
  test.skipIf(missing !== null)(name, body, timeoutMs);
}

/** For `skippable`: what of these programs is not on the PATH. */
export function missingPrograms(...names: readonly string[]): string | null {
  const absent = names.filter((name) => Bun.which(name) === null);
  return absent.length === 0 ? null : `there is no ${absent.join(", no ")}`;
}

/** For `skippable`: `what` when the command is not there or fails. */
export function missingUnless(command: readonly [string, ...string[]], what: string): string | null {
  if (Bun.which(command[0]) === null) return what;
  const { exitCode } = Bun.spawnSync([...command], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return exitCode === 0 ? null : what;
}

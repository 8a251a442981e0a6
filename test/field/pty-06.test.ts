/** PTY-06: nothing that lasts stands in the folder it was started from. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { skippable } from "../support/skippable.ts";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const REFUSED = /^error: The current working directory was deleted, .*cd into a different directory.*\n$/;
const cwdOf = (pid: number) => readlinkSync(`/proc/${pid}/cwd`);

/** A supervisor and a pass are started in `start`, which is then removed while they go on. */
async function startIn(start: string) {
  mkdirSync(start);
  field.declare("a");
  expect((await field.once({ cwd: start })).code).toBe(0);
  const supervisor = await field.supervise(["--interval", "1"], { cwd: start });
  rmSync(start, { recursive: true });
  field.declare("b");
  const [b] = await field.untilLaunched(1, "box.b");
  const [a] = await field.untilLaunched(1, "box.a");
  kill(a!.pid, "SIGKILL");
  const again = (await field.untilLaunched(2, "box.a"))[1]!;
  const hosts = [a!.hostPid, b!.hostPid, again.hostPid];
  return { supervisor, hosts, cwds: [b!.cwd, again.cwd] };
}

skippable(
  "neither supervisor nor session hosts stand in it",
  process.platform === "linux" ? null : "only Linux shows current folders of other processes",
  async () => {
    const start = join(field.root, "tmp");
    const { supervisor, hosts } = await startIn(start);
    for (const pid of [supervisor.pid, ...hosts].filter(isAlive)) expect(cwdOf(pid)).not.toStartWith(start);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "the folder that a supervisor and a pass were started in is removed",
  async () => {
    const start = join(field.root, "tmp");
    const { supervisor, cwds } = await startIn(start);
    expect(cwds).toEqual(["b", "a"].map((name) => join(field.network, "worktrees", name)));

    mkdirSync(start);
    const inside = (words: string) => ["sh", "-c", `cd ${start} && ${words}exec "$@"`, "sh"];
    for (const words of [
      ["ls", field.network],
      ["plan", field.network],
      ["down", field.network],
    ]) {
      mkdirSync(start, { recursive: true });
      const ran = await field.convoy(words, { through: inside(`rmdir ${start}; `) });
      // The runtime refuses a removed folder before any code of convoy runs: in one line that says what to do.
      expect([words, ran]).toEqual([words, { code: 1, stdout: "", stderr: expect.stringMatching(REFUSED) }]);
      expect(await field.convoy(words)).toMatchObject({ code: 0 });
    }
    await until("all to be gone", () => field.launches().every(({ pid }) => !isAlive(pid)));
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

/** PTY-06: nothing that lasts stands in the folder it was started from. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const REFUSED = /^error: The current working directory was deleted, .*cd into a different directory.*\n$/;
const cwdOf = (pid: number) => readlinkSync(`/proc/${pid}/cwd`);

test(
  "the folder that a supervisor and a pass were started in is removed",
  async () => {
    const start = join(field.root, "tmp");
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
    expect([b!.cwd, again.cwd]).toEqual(["b", "a"].map((name) => join(field.network, "worktrees", name)));
    if (process.platform === "linux")
      for (const pid of [supervisor.pid, a!.hostPid, b!.hostPid, again.hostPid].filter(isAlive))
        expect(cwdOf(pid)).not.toContain("(deleted)");
    else console.log("skipped: current folders of other processes, which only Linux shows");

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

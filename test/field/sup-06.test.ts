/** SUP-06: what counts as a failure: an end soon after a start, by whatever cause; never an end long after. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

test(
  "one that lives past the window and ends, six times, is never parked",
  async () => {
    field.declare("a");
    field.behave("box.a", `[ "$(wc -l <${field.root}/runs.log)" -gt 6 ] || { sleep 1.3; exit 1; }`);
    const supervisor = await field.supervise(["--fast-fail-window", "1"]);
    const runs = await field.untilLaunched(7);
    expect(supervisor.of("session_flapping")).toEqual([]);
    await until("the last respawn to be said", () => supervisor.of("respawn").length === 6);
    expect(supervisor.of("respawn").map(({ fastFails }) => fastFails)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(isAlive(runs[6]!.pid)).toBe(true);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "one that starts well and dies after a moment is parked at the limit",
  async () => {
    field.declare("a");
    field.behave("box.a", "sleep 0.5; exit 1");
    const supervisor = await field.supervise(["--fast-fail-limit", "2"]);
    await until("it to be parked", () => supervisor.of("session_flapping").length === 1);
    expect(supervisor.of("session_flapping")).toMatchObject([{ counter: 2, limit: 2 }]);
    expect(await supervisor.end()).toBe(0);
    expect(field.launches().length).toBeLessThanOrEqual(3);
  },
  TEST_MS,
);

test(
  "killed from outside: the signal is kept, and it comes back as after a crash",
  async () => {
    field.declare("a");
    const supervisor = await field.supervise();
    const [run] = await field.untilLaunched(1);
    await until("the launch to be said", () => supervisor.of("launch").length === 1);
    kill(run!.pid, "SIGKILL");
    await until("the death to be said", () => supervisor.of("death").length === 1);
    expect(supervisor.of("death")).toMatchObject([{ kind: "exited", exitCode: 137 }]);
    await field.untilLaunched(2);
    await until("the respawn to be said", () => supervisor.of("respawn").length === 1);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "exit 0 at once: a batch is done, a permanent one is brought back until it is parked",
  async () => {
    field.declare("batch", 'strategy = "batch"');
    field.declare("permanent");
    for (const name of ["batch", "permanent"]) field.behave(`box.${name}`, "exit 0");
    const supervisor = await field.supervise(["--fast-fail-limit", "2"]);
    await until("the permanent one to be parked", () => supervisor.of("session_flapping").length === 1);
    await until("the batch to be done", async () =>
      (await field.list()).some(({ identity, state }) => identity === "batch" && state === "done"),
    );
    expect(await supervisor.end()).toBe(0);
    await field.once();
    expect(field.launches("box.batch")).toHaveLength(1);
    expect(supervisor.of("session_flapping")).toMatchObject([{ identity: "permanent" }]);
  },
  TEST_MS,
);

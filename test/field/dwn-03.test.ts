/** DWN-03: a preview or a listing changes not one byte, whatever state the network is in. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, isAlive, kill, snapshot, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  for (const name of ["a", "b"]) field.declare(name);
});
afterEach(() => field.remove());

const LOOKS = [["down", "--dry-run"], ["plan"], ["plan", "--json"], ["ls"], ["ls", "--json"], ["validate"]];

const processes = () =>
  field
    .living()
    .map(({ pid, start }) => `${pid} ${start}`)
    .sort();

const AT_ONE = [
  ["peek", "a"],
  ["peek", "a", "--full"],
  ["logs", "a"],
  ["down", "--dry-run", "--agent", "a"],
];

async function expectNothingChanged(looks: readonly (readonly string[])[] = LOOKS): Promise<void> {
  const before = [snapshot(field.root), processes()];
  for (const [verb = "", ...rest] of looks) {
    const ran = await field.convoy([verb, ...rest, "--network", field.network]);
    expect([verb, ran.code]).toEqual([verb, 0]);
    expect([snapshot(field.root), processes()]).toEqual(before);
  }
}

async function startBoth() {
  expect((await field.once()).code).toBe(0);
  return await field.untilLaunched(2);
}

test(
  "a network in which nothing ever ran",
  async () => {
    await expectNothingChanged();
  },
  TEST_MS,
);

test(
  "a running one, and the preview is what happens",
  async () => {
    const runs = await startBoth();
    await until("the hosts to be quiet", async () =>
      (await field.list()).every((row) => row.state === "running"),
    );
    await expectNothingChanged([...LOOKS, ...AT_ONE]);
    const preview = JSON.parse((await field.convoy(["down", field.network, "--dry-run", "--json"])).stdout);
    const real = JSON.parse((await field.convoy(["down", field.network, "--json"])).stdout);
    const pids = ({ sessions }: { sessions: { session: string; pid: number }[] }) =>
      sessions.map(({ session, pid }) => `${session} ${pid}`).sort();
    expect(pids(preview)).toEqual(pids(real));
    expect(preview).toMatchObject({ dryRun: true, planned: 2, stopped: 0 });
    expect(runs.filter(({ pid }) => isAlive(pid))).toEqual([]);
  },
  TEST_MS,
);

test(
  "a half-dead one",
  async () => {
    const runs = await startBoth();
    for (const pid of [runs[0]!.hostPid, runs[0]!.pid, runs[1]!.hostPid]) kill(pid, "SIGKILL");
    await until("them to be gone", () => !isAlive(runs[0]!.pid) && !isAlive(runs[1]!.hostPid));
    if (isAlive(runs[1]!.pid)) kill(runs[1]!.pid, "SIGKILL");
    await until("all to be gone", () => !isAlive(runs[1]!.pid));
    await expectNothingChanged();
  },
  TEST_MS,
);

test(
  "a parked one",
  async () => {
    field.behave("box.a", "exit 3");
    const supervisor = await field.supervise(["--fast-fail-limit", "1"]);
    await until("it to be parked", () => supervisor.of("session_flapping").length === 1);
    expect(await supervisor.end()).toBe(0);
    await expectNothingChanged();
  },
  TEST_MS,
);

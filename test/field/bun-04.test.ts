/** BUN-04: every end is seen at once, with its code and the last line, whatever keeps the terminal open. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { processTable } from "../../src/system/processes.ts";
import { type Event, Field, kill, type Supervisor, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

async function untilDeaths(supervisor: Supervisor, count: number): Promise<Event[]> {
  return await until(`${count} deaths`, () => {
    const deaths = supervisor.of("death");
    return deaths.length >= count ? deaths : null;
  });
}

test(
  "twenty agents that print a line and exit 7",
  async () => {
    const names = Array.from({ length: 20 }, (_, i) => `a${i}`);
    for (const name of names) {
      field.declare(name);
      field.behave(
        `box.${name}`,
        `[ -e ${field.root}/once/${name} ] && exec sleep 1000000; mkdir -p ${field.root}/once/${name}; echo "last of ${name}"; exit 7`,
      );
    }
    const supervisor = await field.supervise(["--interval", "1000"]);
    const deaths = await untilDeaths(supervisor, names.length);
    const told = deaths.map(({ identity, exitCode, lastLine }) => `${identity} ${exitCode} ${lastLine}`);
    expect(told.sort()).toEqual(names.map((name) => `${name} 7 last of ${name}`).sort());
    await field.untilLaunched(40);
    const zombies = processTable.rows().filter(({ zombie, parent }) => zombie && parent === supervisor.pid);
    expect(zombies).toEqual([]);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

test(
  "killed, and one that leaves a child that holds the terminal",
  async () => {
    field.declare("killed");
    field.declare("leaver");
    field.behave(
      "box.leaver",
      `[ -e ${field.root}/left ] && exec sleep 1000000; : >${field.root}/left; sleep 1000000 & echo leaving; exit 7`,
    );
    const supervisor = await field.supervise(["--interval", "1000"]);
    const [run] = await field.untilLaunched(1, "box.killed");
    kill(run!.pid, "SIGKILL");
    const deaths = await untilDeaths(supervisor, 2);
    const told = deaths.map(({ identity, exitCode }) => `${identity} ${exitCode}`);
    expect(told.sort()).toEqual(["killed 137", "leaver 7"]);
    expect(deaths.find(({ identity }) => identity === "leaver")?.lastLine).toBe("leaving");
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

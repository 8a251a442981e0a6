/** SYN-03: merge markers in one declaration freeze that one at its last good version, and nothing else. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { Field, isAlive, kill, problemsIn, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const conflicted = (line: string, other: string) =>
  `<<<<<<< HEAD\n${line}\n=======\n${other}\n>>>>>>> theirs\n`;

test.each([
  ["toml", 'identity = "a"\nrole = "chief-of-staff"\nhost = "box"\n', 'model = "x"', 'model = "y"'],
  ["kdl", 'identity "a"\nrole "chief-of-staff"\nhost "box"\n', 'model "x"', 'model "y"'],
  [
    "json",
    '{\n"identity": "a",\n"role": "chief-of-staff",\n"host": "box",\n',
    '"model": "x"}',
    '"model": "y"}',
  ],
])(
  "%s",
  async (format, start, line, other) => {
    const path = `box/a/agent.${format}`;
    const file = field.put(`n/catalog/${path}`, `${start}${line}\n`);
    expect(await field.once()).toMatchObject({ code: 0 });
    const [run] = await field.untilLaunched(1);

    field.put(file, start + conflicted(line, other));
    field.declare("b");
    const ran = await field.once();
    expect(ran.code).toBe(1);
    const errors = ran.events.filter(({ type }) => type === "catalog_error");
    expect(errors).toMatchObject([{ path, line: start.split("\n").length }]);
    expect(field.launches("box.a")).toEqual([run!]);
    await field.untilLaunched(1, "box.b");

    // Still in force: what the broken file last said is started again.
    kill(run!.hostPid, "SIGKILL");
    kill(run!.pid, "SIGKILL");
    await until("both to be gone", () => !isAlive(run!.hostPid) && !isAlive(run!.pid));
    expect((await field.once()).code).toBe(1);
    const runs = await field.untilLaunched(2, "box.a");
    expect(runs[1]!.argv).toBe(run!.argv);

    writeFileSync(file, `${start}${line}\n`);
    const after = await field.once();
    expect(after).toMatchObject({ code: 0 });
    expect(problemsIn(after.events)).toEqual([]);
    expect(field.launches()).toHaveLength(3);
  },
  TEST_MS,
);

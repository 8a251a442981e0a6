/** SYN-02: what a transfer or an editor has lying about is no agent and no error; its final rename is an update. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Field, isAlive, problemsIn, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const PASSING = [
  ".syncthing.agent.toml.tmp",
  "~syncthing~agent.toml.tmp",
  ".agent.toml.Ab3dEf",
  ".~tmp~/agent.toml",
];
const KEPT = [".stversions/h/x/agent.toml", ".git/h/x/agent.toml"];

test(
  "files that come and go beside a running agent",
  async () => {
    const file = field.declare("a");
    const text = readFileSync(file, "utf8");
    const half = text.slice(0, 20);
    const supervisor = await field.supervise(["--interval", "1"]);
    const runs = await field.untilLaunched(1);

    for (const name of PASSING)
      field.put(join(dirname(file), name), name.includes("agent.toml.") ? half : text);
    for (const name of KEPT) field.put(join(field.network, "catalog", name), text.replace('"a"', '"x"'));
    symlinkSync("me@box.1234:5678", join(dirname(file), ".#agent.toml"));
    const plans = supervisor.of("plan").length;
    field.declare("later");
    await field.untilLaunched(1, "box.later");

    renameSync(field.put(join(dirname(file), ".agent.toml.Ab3dEf"), `${text}model = "newer"\n`), file);
    await until("the change to be seen", async () => {
      const { stdout } = await field.convoy(["ls", field.network, "--json"]);
      return JSON.parse(stdout).agents.some((row: { changed: boolean }) => row.changed);
    });
    mkdirSync(join(field.network, "catalog/.stfolder"));
    field.declare("last");
    await field.untilLaunched(1, "box.last");

    expect(problemsIn(supervisor.events)).toEqual([]);
    expect(supervisor.of("plan").length).toBeGreaterThan(plans);
    expect(field.launches("box.a")).toEqual(runs);
    expect(isAlive(runs[0]!.pid)).toBe(true);
    expect(field.launches().map(({ busId }) => busId)).toEqual(["box.a", "box.later", "box.last"]);
    expect(await supervisor.end()).toBe(0);
  },
  TEST_MS,
);

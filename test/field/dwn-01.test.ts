/** DWN-01: the end of an agent is the end of everything it started, and is only claimed after looking. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processTable } from "../../src/system/processes.ts";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  field.declare("a");
});
afterEach(() => field.remove());

/** Each child writes its pid to `<name>.pid` below the field. */
const note = (name: string) =>
  `echo $$ >${field.root}/${name}.pid.tmp; mv ${field.root}/${name}.pid.tmp ${field.root}/${name}.pid`;
const pidOf = (name: string) => Number(readFileSync(join(field.root, `${name}.pid`), "utf8"));
const CHILDREN = ["same-group", "own-session", "double-fork"];

/** Shell, program below it, and below that the three kinds of children. */
function behaveAsATree(): void {
  const doubleFork = `trap "" HUP\n${note("double-fork")}\nsleep 1000000\n`;
  field.put("double-fork", `#!/bin/sh\n[ "$1" = forked ] || exec setsid "$0" forked\n${doubleFork}`, 0o755);
  field.put(
    "program",
    `#!/bin/sh
sh -c '${note("same-group")}; sleep 1000000' &
setsid sh -c '${note("own-session")}; sleep 1000000' &
sh -c '${field.root}/double-fork & exit'
${note("program")}
while :; do sleep 1000; done
`,
    0o755,
  );
  field.behave("box.a", `${field.root}/program; exit $?`);
}

async function startTree(): Promise<number[]> {
  expect(await field.once()).toMatchObject({ code: 0 });
  const names = [...CHILDREN, "program"];
  await until("the whole tree", () => names.every((name) => existsSync(join(field.root, `${name}.pid`))));
  const pids = names.map(pidOf);
  expect([new Set(pids).size, pids.every(isAlive)]).toEqual([4, true]);
  return pids;
}

function zombiesOf(parents: ReadonlySet<number>): number[] {
  const rows = processTable.rows().filter(({ zombie, parent }) => zombie && parents.has(parent));
  return rows.map(({ pid }) => pid);
}

test(
  "down ends the whole tree",
  async () => {
    behaveAsATree();
    const pids = await startTree();
    const own = new Set(field.living().map(({ pid }) => pid));

    const ran = await field.convoy(["down", field.network, "--json"]);

    expect(pids.filter(isAlive)).toEqual([]);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ planned: 1, stopped: 1, failed: 0 });
    expect(field.living()).toEqual([]);
    expect(zombiesOf(own)).toEqual([]);
  },
  TEST_MS,
);

test(
  "a child with an empty environment and a session of its own that ignores TERM and HUP",
  async () => {
    field.behave(
      "box.a",
      `setsid env -i PATH="$PATH" sh -c 'trap "" HUP TERM; ${note("shed")}; exec sleep 1000000' & sleep 1000000`,
    );
    expect(await field.once()).toMatchObject({ code: 0 });
    await until("the child", () => existsSync(join(field.root, "shed.pid")));
    const shed = pidOf("shed");
    try {
      const ran = await field.convoy(["down", field.network, "--json", "--grace", "1"]);
      if (isAlive(shed)) {
        expect(ran.code).toBe(1);
        expect(ran.stderr).toContain(`process ${shed} `);
      } else expect(ran.code).toBe(0);
    } finally {
      kill(shed, "SIGKILL");
    }
  },
  TEST_MS,
);

test(
  "what a dead leader left is ended before the agent is started again",
  async () => {
    behaveAsATree();
    const before = await startTree();
    const [run] = field.launches();
    kill(run!.pid, "SIGKILL");
    await until("the host to leave", () => !isAlive(run!.hostPid));
    await until("a new run", async () => {
      const { code } = await field.once();
      expect([0, 1]).toContain(code);
      return field.launches().length === 2;
    });
    expect(before.filter(isAlive)).toEqual([]);
    const second = field.launches()[1]!;
    await until("its own children", () => CHILDREN.every((name) => !before.includes(pidOf(name))));
    expect(isAlive(second.pid)).toBe(true);
    expect((await field.convoy(["down", field.network])).code).toBe(0);
    expect(field.living()).toEqual([]);
  },
  TEST_MS,
);

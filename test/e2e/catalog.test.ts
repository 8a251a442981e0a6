/** The catalog as it comes from a synced folder: missing, torn, half written, edited; and what agents wait for. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DEADLINE_MS, isAlive, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

interface Row {
  readonly identity: string;
  readonly state: string;
  readonly reason: string;
  readonly changed: boolean;
  readonly restarts: number;
  readonly pid: number | null;
  readonly sessions: readonly {
    readonly task: string;
    readonly state: string;
    readonly pid: number | null;
  }[];
}

/** The agents of `ls --json`, by identity. */
async function listed(): Promise<Record<string, Row>> {
  const { agents } = JSON.parse((await net.convoy(["ls", "--json"])).stdout) as { agents: Row[] };
  return Object.fromEntries(agents.map((row) => [row.identity, row]));
}

/** What can befall a catalog that is synced; each gives back how it is undone. */
const LOSSES: Readonly<Record<string, () => () => void>> = {
  missing() {
    renameSync(net.catalog, join(net.home, "aside"));
    return () => renameSync(join(net.home, "aside"), net.catalog);
  },
  empty() {
    renameSync(net.catalog, join(net.home, "aside"));
    mkdirSync(net.catalog);
    return () => {
      rmSync(net.catalog, { recursive: true });
      renameSync(join(net.home, "aside"), net.catalog);
    };
  },
  unreadable() {
    // A link that leads to itself: root cannot read that either.
    renameSync(net.catalog, join(net.home, "aside"));
    symlinkSync(net.catalog, net.catalog);
    return () => {
      rmSync(net.catalog);
      renameSync(join(net.home, "aside"), net.catalog);
    };
  },
  "without one file"() {
    const file = join(net.catalog, "box/a/agent.toml");
    const text = readFileSync(file);
    rmSync(file);
    return () => writeFileSync(file, text);
  },
};

for (const [name, lose] of Object.entries(LOSSES))
  test(`SUP-R08 SUP-R11: a catalog that is ${name} ends nothing, is said, and what ran is still recovered`, async () => {
    for (const identity of ["a", "b"]) net.declare(identity);
    await net.once();
    const [a, b] = [await net.running("a"), await net.running("b")];
    const restore = lose();
    const { code, stderr, events } = await net.once();
    const problems = events.filter(({ type }) => type === "catalog_error" || type === "catalog_warning");
    expect([problems.length > 0 || stderr !== "", isAlive(a), isAlive(b)]).toEqual([true, true, true]);
    expect(code).toBe(name === "missing" || name === "unreadable" ? 1 : 0);
    const loop = await net.up();
    await net.event("adopt", ({ identity }) => identity === "a");
    kill(a);
    const again = await net.running("a", a);
    expect(net.pid("b")).toBe(b);
    if (name === "missing") expect(existsSync(net.catalog)).toBe(false);
    loop.signal("SIGTERM");
    await loop.ended;
    restore();
    expect(await net.once()).toMatchObject({ code: 0, summary: "adopted 2" });
    expect([net.pid("a"), net.pid("b"), net.said("retire")]).toEqual([again, b, []]);
  });

test("SUP-R08 SUP-A01: an old copy that comes back, or a conflict copy, neither ends nor revives anybody", async () => {
  const file = net.declare("a");
  net.declare("b", { lines: ["retired = true"] });
  await net.once();
  const pid = await net.running("a");
  const text = readFileSync(file, "utf8");
  writeFileSync(
    join(net.catalog, "box/a/agent.sync-conflict-20261130-101010-ABCDEFG.toml"),
    text.replace('identity = "a"', 'identity = "a"\nretired = true'),
  );
  writeFileSync(
    join(net.catalog, "box/b/agent.sync-conflict-20261130-101010-ABCDEFG.toml"),
    'host = "box"\nidentity = "b"\nrole = "worker"\n',
  );
  const { code, events } = await net.once();
  expect([code, net.pid("a"), net.runs("b")]).toEqual([0, pid, []]);
  const warned = events.filter((event) => event.type === "catalog_warning").map(({ path }) => path);
  expect(warned.filter((path) => path.includes("sync-conflict")).length).toBe(2);
});

test("SUP-R01 SUP-R12: a declaration counts once it has been still: nothing is started from a half-written one", async () => {
  await net.up();
  const path = join(net.catalog, "box/a/agent.toml");
  mkdirSync(join(net.catalog, "box/a"), { recursive: true });
  const text = `host = "box"\nidentity = "a"\nrole = "worker"\n[pty.agent]\ncommand = "exec agent early"\n`;
  const whole = text.replace("early", "late");
  // Valid from the middle on, with another command; never still for as long as 250 ms.
  const file = openSync(path, "w");
  writeSync(file, text);
  for (const [index, letter] of [...whole].entries()) {
    writeSync(file, letter, index);
    await Bun.sleep(10);
  }
  writeSync(file, " ".repeat(text.length - whole.length + 1), whole.length);
  closeSync(file);
  await net.running("a");
  await until("the agent to say that it runs", () => net.runs("late").length > 0);
  expect([net.runs("early"), net.runs("late").length, net.said("launch").length]).toEqual([[], 1, 1]);
});

test("SUP-R04 SUP-R08: a running agent is neither ended nor restarted while its file passes through empty, broken and shorter states", async () => {
  const path = net.declare("a");
  await net.up();
  const pid = await net.running("a");
  const whole = readFileSync(path, "utf8");
  const states = [
    "",
    'host = "box"\n',
    whole.slice(0, 30),
    `${whole}<<<<<<< ours\n`,
    'host = "box"\nidentity = "a"\n',
  ];
  for (const state of states) {
    const before = net.events().length;
    writeFileSync(path, state);
    await net.event(
      "plan",
      ({ problems }) => problems.some((problem) => problem.path === "box/a/agent.toml"),
      before,
    );
    expect((await listed()).a).toMatchObject({ state: "running", pid, restarts: 0 });
    const broken = net.events().length;
    writeFileSync(path, whole);
    await net.event("plan", ({ problems }) => problems.length === 0, broken);
  }
  expect([net.pid("a"), net.runs("a"), net.said("retire")]).toEqual([pid, [pid], []]);
});

test("SUP-R04 SUP-R12: a changed declaration is shown as changed, restarts nothing, and counts from the next launch on", async () => {
  net.declare("a");
  await net.up();
  const pid = await net.running("a");
  expect((await listed()).a).toMatchObject({ state: "running", changed: false });
  net.declare("a", { command: "exec agent changed" });
  await until("the change to be shown", async () => (await listed()).a?.changed);
  expect([net.pid("a"), net.runs("changed")]).toEqual([pid, []]);
  kill(pid);
  await until("the changed command to run", () => net.runs("changed").length === 1);
  expect((await listed()).a).toMatchObject({ state: "running", changed: false, restarts: 1 });
});

test("SUP-R05: an edit, a new folder and a deletion reach a running loop without its timer", async () => {
  await net.up(["--interval", "3600"]);
  net.declare("a", { path: "box/a/agent.toml" });
  const a = await net.running("a");
  net.declare("deep", { path: "box/very/deep/folder/agent.toml" });
  await net.running("deep");
  // As an editor saves: a file beside it, renamed over it.
  writeFileSync(join(net.home, "made"), 'host = "box"\nidentity = "a"\nrole = "worker"\nretired = true\n');
  renameSync(join(net.home, "made"), join(net.catalog, "box/a/agent.toml"));
  await until("a to be gone", () => !isAlive(a));
});

test("SUP-R02 SUP-R11: a batch that is done is not run again, and one that failed is", async () => {
  const lines = ['strategy = "batch"'];
  net.declare("done", { command: "agent done exit 0", lines });
  net.declare("fails", { command: 'agent fails exit "$(wc -l <"$HOME/fails.rc")"', lines });
  // Fails once, then exits with 0.
  writeFileSync(join(net.home, "fails.rc"), "1\n");
  await net.up();
  await until("the failing one to have run twice", () => {
    if (net.runs("fails").length === 1) writeFileSync(join(net.home, "fails.rc"), "");
    return net.runs("fails").length >= 2 && net.ledger("fails")?.end?.exitCode === 0;
  });
  await until("both to be done", async () => {
    const { done, fails } = await listed();
    return done?.state === "done" && fails?.state === "done";
  });
  expect(
    (await net.plan()).agents.map(({ identity, disposition, blocked }) => [identity, disposition, blocked]),
  ).toEqual([
    ["done", "adopt", "done"],
    ["fails", "adopt", "done"],
  ]);
  expect([net.runs("done").length, net.record("done").tags.strategy]).toEqual([1, undefined]);
});

test("SUP-R01 SUP-R11: explicit tasks are the agent's sessions: the main one decides, the others are restored beside it", async () => {
  const tables = ["[pty.web]", 'command = "exec agent web"', "[pty.agent]", 'command = "exec agent main"'];
  net.declare("a", { command: null, tables });
  const loop = await net.up();
  const [main, web] = [await net.running("a"), await net.running("a", null, "web")];
  expect((await listed()).a?.sessions.map(({ task, state, pid }) => [task, state, pid])).toEqual([
    ["agent", "running", main],
    ["web", "running", web],
  ]);
  kill(web);
  const healed = await net.running("a", web, "web");
  await net.event("heal", ({ task }) => task === "web");
  expect([net.pid("a"), net.said("respawn")]).toEqual([main, []]);
  kill(main);
  await net.running("a", main);
  expect(net.pid("a", "web")).toBe(healed);
  loop.signal("SIGTERM");
  await loop.ended;
  expect((await net.convoy(["down"])).code).toBe(0);
  await until("both to be gone", () => net.pid("a") === null && net.pid("a", "web") === null);
});

test("SUP-R11 SUP-R17: an agent whose workspace is not there waits, is not parked, and starts when it appears", async () => {
  const workspace = join(net.home, "later");
  net.declare("a", { lines: [`workspace = "${workspace}"`] });
  net.declare("b");
  expect(await net.once(["--fast-fail-limit", "1"])).toMatchObject({
    code: 1,
    summary: "launched 1, waiting 1",
  });
  expect(net.said("waiting")).toMatchObject([
    { identity: "a", busId: "box.a", for: `workspace ${workspace}` },
  ]);
  await net.up(["--interval", "0.2"]);
  await until("it to be said again by this supervisor", () => net.said("waiting").length === 2);
  expect([existsSync(workspace), (await listed()).a?.state]).toEqual([false, "waiting"]);
  mkdirSync(workspace);
  await net.running("a");
  expect([net.said("launch_failed"), net.said("session_flapping"), net.said("waiting").length]).toEqual([
    [],
    [],
    2,
  ]);
});

test("SUP-R11: an agent whose program is not on its PATH waits, with the PATH named, and starts when it is there", async () => {
  net.declare("a", {
    command: null,
    lines: ['bin = "not-here-yet"'],
    tables: ["[env]", `PATH = "${net.bin}:/usr/bin:/bin"`],
  });
  await net.up(["--interval", "0.2"]);
  const { for: lacking } = await net.event("waiting");
  expect(lacking).toBe(`not-here-yet on PATH (${net.bin}:/usr/bin:/bin)`);
  expect((await net.plan()).agents).toMatchObject([
    { identity: "a", disposition: "launch", blocked: "waiting" },
  ]);
  net.program("not-here-yet", "#!/bin/sh\nexec agent a\n");
  await net.running("a");
  expect([net.said("launch_failed"), net.said("session_flapping")]).toEqual([[], []]);
});

test("SUP-R02: one broken file is an error with its line, and hides no other", async () => {
  mkdirSync(join(net.catalog, "box/broken"), { recursive: true });
  writeFileSync(
    join(net.catalog, "box/broken/agent.toml"),
    'identity = "broken"\nrole = "worker"\nharness = "abacus"\n',
  );
  net.declare("a");
  const { code, events, summary } = await net.once();
  expect([code, summary]).toEqual([1, "launched 1"]);
  expect(events.filter((event) => event.type === "catalog_error")).toMatchObject([
    { path: "box/broken/agent.toml", line: 3, message: expect.stringContaining("abacus") },
  ]);
});

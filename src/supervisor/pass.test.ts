import { describe, expect, test } from "bun:test";
import { FakeWorld } from "../../test/fakes/supervisor.ts";
import { declarationOf, sessionOf } from "../../test/generators/declarations.ts";
import type { Trigger } from "../world.ts";
import { pass } from "./pass.ts";
import { nothingSaid } from "./said.ts";

const explicit = (identity: string, over: Partial<Parameters<typeof declarationOf>[0]> = {}) =>
  declarationOf({
    identity,
    host: "box",
    tasks: [{ name: "agent", command: "run", id: null, cwd: null, tags: {}, env: {}, keep: null }],
    ...over,
  });

function supervised(world: FakeWorld) {
  const said = nothingSaid();
  return (trigger: Trigger = "timer") => pass(world.ports(), world.settings(), trigger, said);
}

function worldWith(...declarations: ReturnType<typeof explicit>[]): FakeWorld {
  const world = new FakeWorld();
  world.declarations = declarations;
  return world;
}

describe("a pass", () => {
  test("creates workspaces, trusts them in one batch, then launches supervisors before their reports", async () => {
    const world = worldWith(explicit("a", { supervisor: "z" }), explicit("z"));
    const { exitCode, summary } = await supervised(world)();
    expect(world.acts).toEqual([
      "mkdir /n/worktrees/z",
      "mkdir /n/worktrees/a",
      "trust /n/worktrees/a /n/worktrees/z",
      "launch box.z",
      "launch box.a",
    ]);
    expect({ exitCode, launched: summary.launched }).toEqual({ exitCode: 0, launched: 2 });
  });

  test("renders before it trusts and launches, and what cannot be is said and holds nobody up", async () => {
    const render = { file: [{ dest: "f", from: "f", mode: null }], dir: [] };
    const world = worldWith(explicit("a", { render, workspace: "/w" }), explicit("b"));
    world.folders.add("/w");
    world.rendering = { written: ["f"], problems: ["g: gone"] };
    const run = supervised(world);
    const { exitCode } = await run();
    expect(world.acts).toEqual([
      "mkdir /n/worktrees/b",
      "render /n/catalog /w",
      "trust /w /n/worktrees/b",
      "launch box.a",
      "launch box.b",
    ]);
    const about = { identity: "a", busId: "box.a", session: "box.a" };
    const told = world.events.filter(({ type }) => type === "render" || type === "warning");
    expect(told).toMatchObject([
      { type: "render", ...about, workspace: "/w", files: ["f"] },
      { type: "warning", ...about, message: "box.a is not rendered as declared: g: gone" },
    ]);
    expect(exitCode).toBe(0);
    await run();
    expect(world.acts.filter((one) => one.startsWith("render")).length).toBe(1);
    world.die("box.a", 3);
    await run();
    expect(world.acts.filter((one) => one.startsWith("render")).length).toBe(2);
  });

  test("with nothing to do does nothing, however often", async () => {
    const world = worldWith(explicit("a"));
    const run = supervised(world);
    await run();
    const [acts, writes, events] = [world.acts.length, world.registry.writes.length, world.events.length];
    for (let count = 0; count < 10; count += 1) await run();
    expect(world.acts.slice(acts)).toEqual(Array(10).fill("trust /n/worktrees/a"));
    expect(world.registry.writes.slice(writes)).toEqual([]);
    expect(world.typesSince(events)).toEqual(["plan"]);
  });

  test("says a death once, brings the agent back by the same function, and parks it at the limit", async () => {
    const world = worldWith(explicit("a"));
    const run = supervised(world);
    await run();
    for (let count = 0; count < 5; count += 1) {
      world.nowMs += 1_000;
      if (world.acts.at(-1) === "launch box.a" || count === 0) world.die("box.a", 3);
      await run("event");
    }
    const story = world.events
      .filter(({ type }) => ["death", "respawn", "session_flapping", "launch"].includes(type))
      .map((event) => (event.type === "respawn" ? `respawn ${event.fastFails}` : event.type));
    expect(story).toEqual([
      "launch",
      "death",
      "respawn 0",
      "death",
      "respawn 1",
      "death",
      "respawn 2",
      "death",
      "session_flapping",
    ]);
    const { exitCode, summary } = await run();
    expect({ exitCode, parked: summary.parked }).toEqual({ exitCode: 1, parked: 1 });
  });

  test("counts a failed launch, tries it again by the timer only, and parks it at the limit", async () => {
    const world = worldWith(explicit("a"));
    world.failing.set("box.a", "no such thing");
    const run = supervised(world);
    const story: string[] = [];
    for (const trigger of ["timer", "event", "timer", "event", "timer", "timer"] as const) {
      const before = world.acts.filter((act) => act === "launch box.a").length;
      const { exitCode } = await run(trigger);
      const after = world.acts.filter((act) => act === "launch box.a").length;
      story.push(`${trigger}: ${after - before} launched, exit ${exitCode}`);
    }
    expect(story).toEqual([
      "timer: 1 launched, exit 1",
      "event: 0 launched, exit 1",
      "timer: 1 launched, exit 1",
      "event: 0 launched, exit 1",
      "timer: 1 launched, exit 1",
      "timer: 0 launched, exit 1",
    ]);
    const ledger = world.registry.ledgers.get("box.a");
    expect(ledger !== "torn" && ledger?.tags["strategy.status"]).toBe("flapping");
    expect(world.events.filter(({ type }) => type === "death")).toEqual([]);
  });

  test("counts a launch that failed before anything was written", async () => {
    const world = worldWith(explicit("a"));
    const ports = world.ports();
    const broken = {
      ...ports,
      facts: {
        ...ports.facts,
        createWorkspace: () => {
          throw new Error("read-only");
        },
      },
    };
    await pass(broken, world.settings(), "timer", nothingSaid());
    const ledger = world.registry.ledgers.get("box.a");
    const found = ledger === "torn" || ledger === undefined ? null : ledger;
    expect({ failed: found?.failedLaunch, count: found?.tags["strategy.consecutive-fast-fails"] }).toEqual({
      failed: true,
      count: "1",
    });
    expect(found?.end?.error).toBe("workspace /n/worktrees/a cannot be created: read-only");
  });

  test("ends what a dead session left before it launches again; survivors are named and the launch waits", async () => {
    const world = worldWith(explicit("a"));
    const run = supervised(world);
    await run();
    world.die("box.a", 1);
    world.leftovers.set("box.a", [7]);
    world.unkillable = true;
    const first = await run();
    expect(world.acts.slice(-2)).toEqual(["trust /n/worktrees/a", "end box.a"]);
    expect(world.events.at(-1)).toMatchObject({ type: "survivor", session: "box.a", pids: [7] });
    world.unkillable = false;
    const second = await run();
    expect(world.acts.slice(-2)).toEqual(["end box.a", "launch box.a"]);
    expect([first.exitCode, second.exitCode]).toEqual([1, 0]);
  });

  test("starts nothing beside processes of a session that it has no file of, and says so", async () => {
    const world = worldWith(explicit("a"));
    const session = sessionOf({
      name: "box.a",
      process: "unknown",
      status: "vanished",
      childPid: 7,
      pid: null,
    });
    world.registry.unlisted.set("box.a", { ...session, ledger: null, record: null });
    const { exitCode, decision } = await supervised(world)();
    expect({ exitCode, acts: world.acts, launches: decision.launches }).toEqual({
      exitCode: 1,
      acts: ["trust "],
      launches: [],
    });
    expect(decision.agents[0]?.row).toMatchObject({
      blocked: "unknown",
      reason: "cannot tell whether it lives: process 7 is marked as its own, and its files are gone",
    });
  });

  test("starts nothing beside processes that show themselves after its look", async () => {
    const world = worldWith(explicit("a"));
    const found = sessionOf({ name: "box.a", childPid: 7, pid: 6 });
    const looks = [[], [found]];
    world.registry.readUnlisted = async () => looks.shift() ?? [];
    const { exitCode } = await supervised(world)();
    expect({ exitCode, acts: world.acts }).toEqual({
      exitCode: 0,
      acts: ["mkdir /n/worktrees/a", "trust /n/worktrees/a"],
    });
  });

  test("tears down what is retired, marked as asked for first, and holds stand", async () => {
    const world = worldWith(explicit("a"), explicit("b"));
    const run = supervised(world);
    await run();
    world.declarations = [explicit("a", { retired: true }), explicit("b")];
    world.registry.holds = { "box.b": { at: "then", by: "down" } };
    world.die("box.b", 0);
    const { summary, exitCode } = await run();
    const ledger = world.registry.ledgers.get("box.a");
    expect(ledger !== "torn" && ledger?.endedBy).toBe("retire");
    expect({ exitCode, torndown: summary.torndown, held: summary.held }).toEqual({
      exitCode: 0,
      torndown: 1,
      held: 1,
    });
    expect(world.acts.filter((act) => act.startsWith("launch"))).toEqual(["launch box.a", "launch box.b"]);
  });

  test("holds that cannot be read let nothing be launched", async () => {
    const world = worldWith(explicit("a"));
    world.registry.holds = "torn";
    await expect(supervised(world)()).rejects.toThrow("nobody can tell which agents are held");
    expect(world.acts).toEqual([]);
  });
});

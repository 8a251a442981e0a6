import { describe, expect, test } from "bun:test";
import { FakeWorld } from "../../test/fakes/supervisor.ts";
import { declarationOf } from "../../test/generators/declarations.ts";
import { type LoopPorts, supervise } from "./loop.ts";

const NEVER_MS = 1_000_000_000;

function agent(identity: string) {
  const task = { name: "agent", command: "run", id: null, cwd: null, tags: {}, env: {}, keep: null };
  return declarationOf({ identity, host: "box", tasks: [task] });
}

/** A supervisor over a fake world, whose hints the test gives by hand. */
function startSupervisor(intervalMs = NEVER_MS) {
  const world = new FakeWorld();
  const hints = { catalog: () => {}, registry: () => {}, death: (_: string) => {}, watched: [] as string[] };
  const blind: ((message: string) => void)[] = [];
  const waiting: { condition: () => boolean; resolve: () => void }[] = [];
  const settle = () => {
    for (const { condition, resolve } of waiting) if (condition()) resolve();
  };
  const ports: LoopPorts = {
    ...world.ports(),
    events: {
      emit(event) {
        world.events.push(event);
        settle();
      },
      appendToSession: () => {},
    },
    watchCatalog(onChange) {
      hints.catalog = onChange;
      return { close: () => world.acts.push("catalog watch closed") };
    },
    watchRegistry(onChange, onProblem) {
      hints.registry = onChange;
      blind.push(onProblem);
      return { close: () => world.acts.push("registry watch closed") };
    },
    deaths: {
      watch(names, onDeath) {
        hints.watched = [...names];
        hints.death = onDeath;
        settle();
      },
      close: () => world.acts.push("death watch closed"),
    },
  };
  const { promise: stop, resolve: end } = Promise.withResolvers<void>();
  const charge = { held: true };
  const inCharge = () => charge.held;
  const done = supervise(ports, { ...world.settings(), intervalMs, inCharge }, stop);
  const until = (condition: () => boolean) =>
    condition() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ condition, resolve }));
  const launches = () => world.acts.filter((act) => act.startsWith("launch"));
  const finish = async () => {
    end();
    await done;
  };
  return { world, hints, blind, charge, done, until, launches, stop: finish };
}

describe("the loop", () => {
  test("acts when the catalog changes, without waiting for the timer", async () => {
    const { world, hints, until, launches, stop } = startSupervisor();
    await until(() => world.events.some(({ type }) => type === "plan"));
    world.declarations = [agent("a")];
    hints.catalog();
    await until(() => hints.watched.includes("box.a"));
    expect(launches()).toEqual(["launch box.a"]);
    await stop();
  });

  test("stops by itself when another process is in charge, and acts no more", async () => {
    const { world, hints, charge, done, launches } = startSupervisor();
    world.declarations = [agent("a")];
    charge.held = false;
    hints.catalog();
    expect(await done).toBe(false);
    expect(launches()).toEqual([]);
    expect(world.events.at(-1)).toMatchObject({ type: "detach", kept: 0 });
  });

  test("acts at once when a session dies, and watches the one that took its place", async () => {
    const { world, hints, until, launches, stop } = startSupervisor();
    world.declarations = [agent("a")];
    hints.catalog();
    await until(() => hints.watched.includes("box.a"));
    world.die("box.a", 9);
    hints.death("box.a");
    await until(() => world.events.some(({ type }) => type === "respawn"));
    expect(launches()).toEqual(["launch box.a", "launch box.a"]);
    await stop();
  });

  test("looks again, ever more seldom, at a session that it cannot tell of, and acts once it can", async () => {
    const { world, hints, until, launches, stop } = startSupervisor();
    world.declarations = [agent("a")];
    hints.catalog();
    await until(() => hints.watched.includes("box.a"));
    const pids = [...world.registry.processes.keys()];
    for (const pid of pids) world.registry.processes.set(pid, "unknown");
    hints.death("box.a");
    await until(() => !hints.watched.includes("box.a"));
    expect(launches()).toEqual(["launch box.a"]);
    // From here on nobody hints at anything.
    for (const pid of pids) world.registry.processes.delete(pid);
    await until(() => world.events.some(({ type }) => type === "respawn"));
    expect(launches()).toEqual(["launch box.a", "launch box.a"]);
    await stop();
  });

  test("a wake during a pass makes one more pass, however many there were", async () => {
    const { world, hints, until, stop } = startSupervisor();
    await until(() => world.events.some(({ type }) => type === "plan"));
    world.declarations = [agent("a")];
    for (let count = 0; count < 50; count += 1) hints.registry();
    await until(() => hints.watched.includes("box.a"));
    expect(world.acts.filter((act) => act.startsWith("trust")).length).toBeLessThanOrEqual(3);
    await stop();
  });

  test("tries a failed launch again by the timer", async () => {
    const { world, until, launches, hints, stop } = startSupervisor(20);
    world.failing.set("box.a", "no");
    world.declarations = [agent("a")];
    hints.catalog();
    await until(() => world.events.some(({ type }) => type === "session_flapping"));
    expect(launches()).toEqual(["launch box.a", "launch box.a", "launch box.a"]);
    await stop();
  });

  test("a pass that fails is said once and ends nothing; it goes on when it can", async () => {
    const { world, until, hints, launches, stop } = startSupervisor(20);
    world.registry.holds = "torn";
    world.declarations = [agent("a")];
    await until(() => world.events.some(({ type }) => type === "warning"));
    world.registry.holds = {};
    await until(() => hints.watched.includes("box.a"));
    expect(launches()).toEqual(["launch box.a"]);
    expect(world.events.filter(({ type }) => type === "warning")).toHaveLength(1);
    await stop();
  });

  test("says that it sees no changes, and when it ends how many sessions it leaves running", async () => {
    const { world, until, hints, blind, stop } = startSupervisor();
    world.declarations = [agent("a"), agent("b")];
    hints.catalog();
    await until(() => hints.watched.length === 2);
    blind[0]?.("no watches left");
    await stop();
    expect(world.events.filter(({ type }) => type === "warning")).toMatchObject([
      { message: "changes of the registry folder are noticed by the timer only: no watches left" },
    ]);
    expect(world.events.at(-1)).toMatchObject({ type: "detach", kept: 2 });
    expect(world.acts.slice(-3)).toEqual([
      "catalog watch closed",
      "registry watch closed",
      "death watch closed",
    ]);
    expect(world.acts.filter((act) => act.startsWith("end"))).toEqual([]);
  });
});

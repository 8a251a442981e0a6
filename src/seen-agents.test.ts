import { expect, test } from "bun:test";
import fc from "fast-check";
import { declarationOf, scene, sessionOf } from "../test/generators/declarations.ts";
import { type Scene, worldOf } from "../test/generators/worlds.ts";
import { decide } from "./decide.ts";
import { groupSeenAgents } from "./seen-agents.ts";

function seen(given: Scene) {
  const world = worldOf(given);
  return groupSeenAgents(world, decide(world));
}

const shape = ({ agents, nobodys }: ReturnType<typeof seen>) => ({
  agents: agents.map(({ busId, agent, sessions, main }) => [
    busId,
    agent !== null,
    sessions.map(({ name }) => name),
    main?.name ?? null,
  ]),
  nobodys: nobodys.map(({ name }) => name),
});

test("sessions stand under their agents, declared or not, and nobody's apart", () => {
  const found = seen({
    declarations: [declarationOf({ identity: "a" }), declarationOf({ identity: "b" })],
    sessions: [
      sessionOf({ name: "z" }),
      sessionOf({ name: "box.a.web", agent: "box.a", tags: { "convoy.task": "web" } }),
      sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" } }),
      sessionOf({ name: "box.c", agent: "box.c", tags: { role: "agent" } }),
    ],
    held: ["box.d"],
  });
  expect(shape(found)).toEqual({
    agents: [
      ["box.a", true, ["box.a", "box.a.web"], "box.a"],
      ["box.b", true, [], null],
      ["box.c", false, ["box.c"], "box.c"],
      ["box.d", false, [], null],
    ],
    nobodys: ["z"],
  });
});

test("an agent that moved keeps what it left here", () => {
  const found = seen({
    declarations: [declarationOf({ identity: "a", host: "shed" })],
    sessions: [sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" } })],
    ledger: {},
  });
  expect(shape(found)).toEqual({ agents: [["shed.a", true, ["box.a"], "box.a"]], nobodys: [] });
});

test("a hold on what an agent left here when it moved makes no second agent", () => {
  const found = seen({
    declarations: [declarationOf({ identity: "a", host: "shed" })],
    sessions: [],
    held: ["box.a"],
  });
  expect(shape(found)).toEqual({ agents: [["shed.a", true, [], null]], nobodys: [] });
});

test("every agent once, every session once", () => {
  fc.assert(
    fc.property(scene, fc.boolean(), ({ entries, sessions }, withLedgers) => {
      const world = worldOf({
        declarations: entries.map(({ declaration }) => declaration),
        sessions,
        ledger: withLedgers ? {} : undefined,
      });
      const decision = decide(world);
      const { agents, nobodys } = groupSeenAgents(world, decision);
      const names = [...agents.flatMap((agent) => agent.sessions), ...nobodys].map(({ name }) => name);
      expect(names.toSorted()).toEqual(world.sessions.map(({ name }) => name).toSorted());
      const busIds = agents.map(({ busId }) => busId);
      expect(busIds).toEqual([...new Set(busIds)]);
      const rows = agents.map(({ agent }) => agent).filter((agent) => agent !== null);
      expect(new Set(rows)).toEqual(new Set(decision.agents));
      expect(rows.length).toBe(decision.agents.length);
      for (const { sessions: own, main } of agents) expect(main === null || own.includes(main)).toBe(true);
    }),
  );
});

import { expect, test } from "bun:test";
import { declarationOf, sessionOf } from "../../test/generators/declarations.ts";
import { type Scene, worldOf } from "../../test/generators/worlds.ts";
import { decide } from "../decide.ts";
import { ConvoyError } from "../errors.ts";
import { findAgent, findBusIds, findSession } from "./agent-ref.ts";

function lookOf(scene: Scene) {
  const world = worldOf(scene);
  return { world, decision: decide(world) };
}

const fleet = lookOf({
  declarations: [
    declarationOf({ identity: "fabric", host: "box", transport: "ding" }),
    declarationOf({ identity: "loom", host: "box" }),
    declarationOf({ identity: "twin", host: "box" }),
    declarationOf({ identity: "twin", host: "shed" }),
  ],
  sessions: [
    sessionOf({ name: "box.fabric", agent: "box.fabric", tags: { role: "agent" } }),
    sessionOf({ name: "box.fabric.ding", agent: "box.fabric", tags: { role: "ding" } }),
    sessionOf({ name: "box.gone", agent: "box.gone", tags: { role: "agent" } }),
    sessionOf({ name: "scratch" }),
  ],
});

function failure(find: () => unknown) {
  try {
    find();
  } catch (error) {
    if (error instanceof ConvoyError) return [error.code, error.message];
    throw error;
  }
  throw new Error("nothing was thrown");
}

test.each([
  ["fabric", "box.fabric", "box.fabric"],
  ["box.fabric", "box.fabric", "box.fabric"],
  ["box.fabric.ding", "box.fabric", "box.fabric.ding"],
  ["loom", "box.loom", null],
  ["gone", "box.gone", "box.gone"],
  ["box.gone", "box.gone", "box.gone"],
  ["shed.twin", "shed.twin", null],
  ["scratch", null, "scratch"],
])("%s names agent %p, session %p", (ref, busId, session) => {
  const found = findSession(fleet, ref);
  expect([found.agent?.busId ?? null, found.session?.name ?? null]).toEqual([busId, session]);
  if (busId !== null) expect(findAgent(fleet, ref).busId).toBe(busId);
});

test("an agent comes with its declaration, its sessions and its main one", () => {
  const { identity, agent, sessions, main } = findAgent(fleet, "box.fabric.ding");
  expect([identity, agent?.row.path, sessions.map(({ name }) => name), main?.name]).toEqual([
    "fabric",
    "0.toml",
    ["box.fabric", "box.fabric.ding"],
    "box.fabric",
  ]);
  expect(findAgent(fleet, "gone").agent).toBeNull();
});

test("what an agent that moved left here carries its former bus id", () => {
  const moved = lookOf({
    declarations: [declarationOf({ identity: "a", host: "shed" })],
    sessions: [sessionOf({ name: "box.a", agent: "box.a", tags: { role: "agent" } })],
    ledger: {},
  });
  expect(findBusIds(moved, "a")).toEqual(["box.a"]);
  expect(findBusIds(fleet, "fabric")).toEqual(["box.fabric"]);
  expect(findBusIds(fleet, "loom")).toEqual(["box.loom"]);
});

test("what names nothing, several, or nobody's session is refused", () => {
  expect(failure(() => findAgent(fleet, "fabrik"))).toEqual([
    "not-found",
    'no agent "fabrik" in /n; did you mean fabric?',
  ]);
  expect(failure(() => findAgent(fleet, "zzzz"))).toEqual(["not-found", 'no agent "zzzz" in /n']);
  expect(failure(() => findAgent(fleet, "twin"))).toEqual([
    "usage",
    '"twin" names 2 agents: box.twin, shed.twin',
  ]);
  expect(failure(() => findAgent(fleet, "scratch"))).toEqual([
    "not-found",
    "session scratch belongs to no agent",
  ]);
});

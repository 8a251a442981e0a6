import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { planLaunchOrder, type Supervised } from "./launch-order.ts";

function agents(text: string): Supervised[] {
  return text.split(" ").map((word) => {
    const [identity = "", supervisor] = word.split("<");
    return { identity, supervisor: supervisor ?? null };
  });
}

const names = (items: readonly Supervised[]) => items.map((item) => item.identity);

describe("planLaunchOrder", () => {
  test.each([
    ["no supervisors: by name", "c a b", [["a", "b", "c"]]],
    ["a chain", "a<b b<c c", [["c"], ["b"], ["a"]]],
    ["a tree, each wave by name", "z<top b<top top a<b", [["top"], ["b", "z"], ["a"]]],
    ["a supervisor that is not here", "a<elsewhere b<a", [["a"], ["b"]]],
  ])("%s", (_title, text, waves) => {
    const planned = planLaunchOrder(agents(text));
    expect(planned.waves.map(names)).toEqual(waves);
    expect(names(planned.order)).toEqual(waves.flat());
    expect(planned.cycles).toEqual([]);
  });

  test("a cycle is said, its members go in name order, who hangs below comes later", () => {
    const planned = planLaunchOrder(agents("c<b b<a a<c under<b top"));
    expect(planned.waves.map(names)).toEqual([["a", "b", "c", "top"], ["under"]]);
    expect(planned.cycles).toEqual([
      {
        members: ["a", "c", "b"],
        message: "supervisors go in a circle (a -> c -> b -> a): started in the order of their names",
      },
    ]);
  });

  test("an agent that is its own supervisor is a circle of one", () => {
    expect(planLaunchOrder(agents("a<a")).cycles.map((cycle) => cycle.members)).toEqual([["a"]]);
  });

  test("nothing to launch", () => {
    expect(planLaunchOrder([])).toEqual({ order: [], waves: [], cycles: [] });
  });

  const name = fc.constantFrom(..."abcdefgh");
  const catalog = fc.uniqueArray(fc.record({ identity: name, supervisor: fc.option(name) }), {
    selector: (item) => item.identity,
  });

  test("every agent once; a supervisor outside a cycle comes first; input order does not matter", () => {
    fc.assert(
      fc.property(catalog, fc.infiniteStream(fc.nat()), (items, random) => {
        const planned = planLaunchOrder(items);
        expect(names(planned.order).sort()).toEqual(names(items).sort());
        const circular = new Set(planned.cycles.flatMap((cycle) => cycle.members));
        const place = new Map(planned.order.map((item, index) => [item.identity, index]));
        for (const { identity, supervisor } of items) {
          const above = supervisor === null ? undefined : place.get(supervisor);
          if (above === undefined || circular.has(identity)) continue;
          expect(above).toBeLessThan(place.get(identity) ?? -1);
        }
        const shuffled = items
          .map((item) => ({ item, key: random.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item);
        expect(planLaunchOrder(shuffled)).toEqual(planned);
      }),
    );
  });

  test("one chain of 100,000 is walked in linear time", () => {
    const chain = Array.from({ length: 100_000 }, (_, index) => ({
      identity: `a${index}`,
      supervisor: index === 0 ? null : `a${index - 1}`,
    }));
    const started = performance.now();
    const planned = planLaunchOrder(chain);
    expect(planned.waves.length).toBe(100_000);
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Mark } from "./process-marks.ts";
import { indexProcesses, sessionTree } from "./process-tree.ts";
import type { ProcessRow } from "./system/processes.ts";

const ST_ROOT = "/n/smalltalk";
const OWN: Mark = { session: "box.a", stRoot: ST_ROOT };
const OTHER: Mark = { session: "box.b", stRoot: ST_ROOT };

/** `pid<parent`, `z` at the end for a zombie, `+` for marked as ours, `-` as another's. */
function world(text: string) {
  const rows: ProcessRow[] = [];
  const marks = new Map<number, Mark>();
  for (const word of text.split(" ")) {
    const [, pid = "", parent = "1", flags = ""] = /^(\d+)(?:<(\d+))?(.*)$/.exec(word) ?? [];
    rows.push({
      pid: Number(pid),
      parent: Number(parent),
      start: `s${pid}`,
      zombie: flags.includes("z"),
      name: `p${pid}`,
    });
    if (flags.includes("+")) marks.set(Number(pid), OWN);
    if (flags.includes("-")) marks.set(Number(pid), OTHER);
  }
  return indexProcesses(rows, marks);
}

function tree(text: string, roots: number[], more: { above?: number[]; exclude?: number[] } = {}) {
  const found = sessionTree(world(text), {
    session: "box.a",
    stRoot: ST_ROOT,
    roots,
    above: more.above ?? [],
    exclude: new Set(more.exclude ?? []),
  });
  return found.map((row) => row.pid);
}

describe("sessionTree", () => {
  test.each([
    ["child and descendants, parents first", "10 11<10 12<11 13<10 20", [10], [10, 11, 13, 12]],
    ["a child that is gone", "20", [10], []],
    ["no zombies, but what is below them", "10z 11<10 12<11z", [10], [11]],
    ["marked ones outside the tree, with theirs", "10 30+ 31<30", [10], [10, 30, 31]],
    ["marked ones alone: what a dead agent left", "30+ 40", [], [30]],
    ["not what is marked for another session", "10 11<10- 12<11 13<10", [10], [10, 13]],
    ["not another session's host, unmarked", "10 11<10 12<11- 13<10 14<13", [10], [10, 13, 14]],
    ["a marked child of another's is ours", "10 11<10- 12<11+", [10], [10, 12]],
    ["never the first process", "1<0 10<1+", [1], [10]],
  ])("%s", (_title, text, roots, expected) => {
    expect(tree(text, roots)).toEqual(expected);
  });

  test("above: what is below a living host, without the host", () => {
    expect(tree("5 10<5 11<10", [], { above: [5], exclude: [5] })).toEqual([10, 11]);
  });

  test("excluded ones keep what is below them", () => {
    expect(tree("10 11<10+ 12<11 13<10", [10], { exclude: [11] })).toEqual([10, 13]);
  });

  test("a process table that goes in a circle ends", () => {
    expect(tree("10<11 11<10", [10])).toEqual([10, 11]);
  });
});

test("never an excluded pid, a zombie, or twice the same", () => {
  const word = fc
    .tuple(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 30 }),
      fc.constantFrom("", "z", "+", "-"),
    )
    .map(([pid, parent, flags]) => `${pid}<${parent}${flags}`);
  const pids = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), pids, pids, (words, roots, exclude) => {
      const unique = words.filter(
        (text, at) => words.findIndex((w) => w.split("<")[0] === text.split("<")[0]) === at,
      );
      const found = tree(unique.join(" "), roots, { exclude });
      expect(new Set(found).size).toBe(found.length);
      for (const pid of found) {
        expect(pid).toBeGreaterThan(1);
        expect(exclude).not.toContain(pid);
        expect(unique.find((text) => text.startsWith(`${pid}<`))).not.toContain("z");
      }
    }),
  );
});

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { skippable } from "../test/support/skippable.ts";
import {
  commandHash,
  decideFailedLaunch,
  decideRespawn,
  isParked,
  type RespawnDecision,
  type RespawnInput,
} from "./flapping-cap.ts";

interface Vectors {
  readonly now: string;
  readonly fingerprints: readonly { command: string; args: string[]; hash: string }[];
  readonly cases: readonly {
    id: string;
    command: string;
    args: string[];
    exitedAt: string | null;
    tagsBefore: Record<string, string>;
    action: string;
    tagsAfter: Record<string, string>;
  }[];
}

const ROOT = join(import.meta.dir, "..");
const FIXTURE = join(ROOT, "test/fixtures/flapping.json");
const SHARED = join(ROOT, "../shared/vectors/flapping.json");
const vectors: Vectors = JSON.parse(readFileSync(FIXTURE, "utf8"));
const NOW = new Date(vectors.now);
const HASH = "b772ea177ab43db1";

function patched(tags: Readonly<Record<string, string>>, { set, remove }: RespawnDecision) {
  const kept = Object.entries(tags).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...set };
}

function sleepInput(tags: Record<string, string>, more: Partial<RespawnInput> = {}): RespawnInput {
  return { tags, command: "/bin/sleep", args: ["45"], exitedAt: null, now: NOW, ...more };
}

/** Tags of a session respawned `secondsAgo` before the pass. */
function respawned(secondsAgo: number, fastFails: string, more: Record<string, string> = {}) {
  return {
    "strategy.last-respawn-at": new Date(NOW.getTime() - secondsAgo * 1000).toISOString(),
    "strategy.consecutive-fast-fails": fastFails,
    "strategy.command-hash": HASH,
    ...more,
  };
}

describe("the vectors observed from the real reader", () => {
  test("are all here", () => {
    expect({ cases: vectors.cases.length, hashes: vectors.fingerprints.length }).toEqual({
      cases: 29,
      hashes: 5,
    });
  });

  const missing = existsSync(SHARED) ? null : "it is not beside this checkout";
  skippable("the fixture is the published file", missing, () => {
    expect(vectors).toEqual(JSON.parse(readFileSync(SHARED, "utf8")));
  });

  test.each(vectors.fingerprints.map((row) => [row.hash, row] as const))("hash %s", (hash, row) => {
    expect(commandHash(row.command, row.args)).toBe(hash);
  });

  test.each(vectors.cases.map((row) => [row.id, row] as const))("%s", (_id, row) => {
    const decided = decideRespawn({
      tags: row.tagsBefore,
      command: row.command,
      args: row.args,
      exitedAt: row.exitedAt,
      now: NOW,
    });
    const after = Object.fromEntries(
      Object.entries(row.tagsAfter).map(([name, value]) => [name, value === "<now>" ? vectors.now : value]),
    );
    expect({ action: decided.action, tags: patched(row.tagsBefore, decided) }).toEqual({
      action: row.action as RespawnDecision["action"],
      tags: after,
    });
  });
});

describe("decideRespawn, where convoy knows more than the reader", () => {
  test("a vanished session whose last respawn is within the window failed fast", () => {
    expect(decideRespawn(sleepInput(respawned(59.999, "1")))).toEqual({
      action: "respawn",
      set: {
        "strategy.last-respawn-at": vectors.now,
        "strategy.consecutive-fast-fails": "2",
        "strategy.command-hash": HASH,
      },
      remove: [],
      fastFails: 2,
      limit: 3,
      windowSeconds: 60,
    });
  });

  test.each([60, -0.001])("a vanished session respawned %p s ago is slow", (secondsAgo) => {
    expect(decideRespawn(sleepInput(respawned(secondsAgo, "2"))).fastFails).toBe(0);
  });

  test("a counter at the limit without the status was cleared by a person", () => {
    for (const counter of ["3", "7"]) {
      const { action, fastFails } = decideRespawn(sleepInput(respawned(1, counter)));
      expect({ action, fastFails }).toEqual({ action: "respawn", fastFails: 0 });
    }
  });

  test("an override tag goes over the arguments, these over the defaults", () => {
    const tags = { "strategy.fast-fail-limit": "9", "strategy.fast-fail-window": "zero" };
    const both = decideRespawn(sleepInput(tags, { limit: 5, windowSeconds: 7 }));
    expect([both.limit, both.windowSeconds]).toEqual([9, 7]);
    const neither = decideRespawn(sleepInput({}, { limit: 0, windowSeconds: -1 }));
    expect([neither.limit, neither.windowSeconds]).toEqual([3, 60]);
  });

  test("flapping takes the whole patch and leaves the last respawn as it was", () => {
    const tags = respawned(10, "2", { mine: "kept" });
    expect(decideRespawn(sleepInput(tags))).toEqual({
      action: "flap",
      set: {
        "strategy.consecutive-fast-fails": "3",
        "strategy.command-hash": HASH,
        "strategy.status": "flapping",
      },
      remove: [],
      fastFails: 3,
      limit: 3,
      windowSeconds: 60,
    });
  });
});

describe("decideFailedLaunch", () => {
  const failed = (tags: Record<string, string>, more: Partial<RespawnInput> = {}) => {
    const { action, fastFails, ...decided } = decideFailedLaunch(sleepInput(tags, more));
    return { action, fastFails, tags: patched(tags, { action, fastFails, ...decided }) };
  };
  const stamped = (count: string, more: Record<string, string> = {}) => ({
    "strategy.last-respawn-at": vectors.now,
    "strategy.consecutive-fast-fails": count,
    "strategy.command-hash": HASH,
    ...more,
  });

  test("counts a first launch", () => {
    expect(failed({ keep: "x" })).toEqual({
      action: "respawn",
      fastFails: 1,
      tags: stamped("1", { keep: "x" }),
    });
  });

  test("counts however long ago the last one was", () => {
    expect(failed(respawned(86_400, "1"))).toEqual({ action: "respawn", fastFails: 2, tags: stamped("2") });
  });

  test("parks at the limit, stamped", () => {
    expect(failed(respawned(86_400, "2"))).toEqual({
      action: "flap",
      fastFails: 3,
      tags: stamped("3", { "strategy.status": "flapping" }),
    });
  });

  test("a changed command is 0 first, so becomes 1, and loses the status", () => {
    const tags = respawned(1, "3", {
      "strategy.command-hash": "0123456789abcdef",
      "strategy.status": "flapping",
    });
    expect(failed(tags)).toEqual({ action: "respawn", fastFails: 1, tags: stamped("1") });
  });

  test("a cleared counter starts afresh too", () => {
    expect(failed(respawned(1, "3"))).toEqual({ action: "respawn", fastFails: 1, tags: stamped("1") });
  });

  test("a limit of 1 parks at once", () => {
    expect(failed({}, { limit: 1 }).action).toBe("flap");
  });
});

test("isParked: flapping, unless the command changed", () => {
  const parked = { "strategy.status": "flapping", "strategy.command-hash": HASH };
  expect(isParked(parked, "/bin/sleep", ["45"])).toBe(true);
  expect(isParked({ "strategy.status": "flapping" }, "/bin/sleep", ["45"])).toBe(true);
  expect(isParked(parked, "/bin/sleep", ["46"])).toBe(false);
  expect(isParked({ "strategy.status": "ok" }, "/bin/sleep", ["45"])).toBe(false);
});

describe("whatever the tags say", () => {
  const OWN = [
    "strategy.status",
    "strategy.consecutive-fast-fails",
    "strategy.last-respawn-at",
    "strategy.command-hash",
  ];
  const time = fc
    .integer({ min: -200_000, max: 200_000 })
    .map((ms) => new Date(NOW.getTime() + ms).toISOString());
  const number = fc.oneof(fc.integer({ min: -5, max: 12 }).map(String), fc.string({ maxLength: 6 }));
  const tags = fc
    .tuple(
      fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 5 })),
      fc.record(
        {
          "strategy.status": fc.constantFrom("flapping", "ok", ""),
          "strategy.consecutive-fast-fails": number,
          "strategy.last-respawn-at": fc.oneof(time, fc.string()),
          "strategy.command-hash": fc.constantFrom(HASH, "0123456789abcdef", ""),
          "strategy.fast-fail-window": number,
          "strategy.fast-fail-limit": number,
        },
        { requiredKeys: [] },
      ),
    )
    .map(([foreign, own]): Record<string, string> => ({ ...foreign, ...own }));
  const input = fc
    .record({ tags, exitedAt: fc.option(fc.oneof(time, fc.string())), windowSeconds: number, limit: number })
    .map((row) =>
      sleepInput(row.tags, {
        exitedAt: row.exitedAt,
        windowSeconds: Number(row.windowSeconds),
        limit: Number(row.limit),
      }),
    );

  test("only the accounting is touched, and what is written can be read", () => {
    fc.assert(
      fc.property(input, (given) => {
        for (const decided of [decideRespawn(given), decideFailedLaunch(given)]) {
          for (const name of [...Object.keys(decided.set), ...decided.remove]) expect(OWN).toContain(name);
          expect(decided.fastFails).toBeGreaterThanOrEqual(0);
          expect(decided.limit).toBeGreaterThan(0);
          expect(decided.windowSeconds).toBeGreaterThan(0);
          expect(decided.action === "flap").toBe(decided.set["strategy.status"] === "flapping");
          if (decided.action !== "skip") {
            expect(decided.set["strategy.consecutive-fast-fails"]).toBe(String(decided.fastFails));
            expect(decided.action === "flap").toBe(decided.fastFails >= decided.limit);
          }
        }
      }),
    );
  });

  test("what was parked stays parked, what is launched is not parked", () => {
    fc.assert(
      fc.property(input, (given) => {
        const decided = decideRespawn(given);
        const next = { ...given, tags: patched(given.tags, decided) };
        const again = decideRespawn(next);
        if (decided.action === "respawn") expect(again.action).not.toBe("skip");
        else expect(again).toEqual({ ...again, action: "skip", set: {}, remove: [] });
        expect(isParked(next.tags, next.command, next.args)).toBe(again.action === "skip");
      }),
    );
  });

  test("failing fast again and again parks after exactly the limit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), (limit) => {
        let given = sleepInput(respawned(0, "0"), { exitedAt: vectors.now, limit });
        const actions: string[] = [];
        for (let round = 0; round < limit + 2; round += 1) {
          const decided = decideRespawn(given);
          actions.push(decided.action);
          given = { ...given, tags: patched(given.tags, decided) };
        }
        expect(actions).toEqual([...Array(limit - 1).fill("respawn"), "flap", "skip", "skip"]);
      }),
    );
  });
});

/** What a pass may rely on of any registry: run by the one on disk and by the fake in memory alike. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Ledger } from "../../src/ledger.ts";
import type { ProcessIdentity, SessionRecord } from "../../src/session.ts";
import type { RegistryPort } from "../../src/supervisor/ports.ts";
import { ledgerFixture, recordFixture } from "../fakes/ledgers.ts";

export interface RegistryUnderTest {
  readonly port: RegistryPort;
  /** A process that lives, and the boot it lives under. */
  readonly living: ProcessIdentity;
  readonly boot: string;
  /** Puts files there as another program would. */
  putRecord(name: string, record: SessionRecord | "torn"): void;
  putLedger(name: string, ledger: Ledger | "torn"): void;
  tearHolds(): void;
}

const HOLD = { at: "2026-11-30T10:00:00.000Z", by: "down (pid 1)" };
const GONE = { pid: 4_194_000, start: "1" };

/** `make` gives an empty registry each time; `cleanUp` runs after each test. */
export function registryContract(
  label: string,
  make: () => RegistryUnderTest,
  cleanUp: () => Promise<void>,
): void {
  describe(`${label} keeps the registry's contract:`, () => {
    afterEach(cleanUp);

    test("an empty registry has no sessions, no problems, no holds", async () => {
      const { port } = make();
      expect(await port.read()).toEqual({ sessions: [], problems: [] });
      expect(await port.readHolds()).toEqual({});
    });

    test("a session of ours is read whole, sorted by name, from record and ledger", async () => {
      const world = make();
      const ledger = ledgerFixture("box.a", { host: world.living, child: world.living, boot: world.boot });
      world.putLedger("box.a", ledger);
      world.putRecord("box.a", recordFixture({ tags: { role: "agent", x: "1" } }));
      world.putLedger("box.0", ledgerFixture("box.0", { host: GONE, child: GONE, boot: world.boot }));
      const { sessions } = await world.port.read();
      expect(sessions.map(({ name, process, status, agent }) => [name, process, status, agent])).toEqual([
        ["box.0", "not-ours", "vanished", "box.box.0"],
        ["box.a", "ours", "running", "box.box.a"],
      ]);
      expect(sessions[1]).toMatchObject({ pid: world.living.pid, tags: { role: "agent", x: "1" }, ledger });
    });

    test("a torn record is a problem, hides no other, and kills nobody", async () => {
      const world = make();
      world.putLedger(
        "box.a",
        ledgerFixture("box.a", { host: world.living, child: world.living, boot: world.boot }),
      );
      world.putRecord("box.a", "torn");
      world.putRecord("box.own", recordFixture({ exitCode: 0, exitedAt: "2026-11-30T10:01:00.000Z" }));
      world.putRecord("box.foreign", "torn");
      const { sessions, problems } = await world.port.read();
      expect(
        sessions.map(({ name, process, missing }) => [name, process, missing?.includes("record")]),
      ).toEqual([
        ["box.a", "ours", true],
        ["box.own", "not-ours", false],
      ]);
      expect(problems.map(({ file }) => file).toSorted()).toEqual(["box.a.json", "box.foreign.json"]);
    });

    test("a session without a ledger that names no process is unknown", async () => {
      const world = make();
      world.putRecord("own", recordFixture({ tags: { "convoy.agent": "box.z" } }));
      expect((await world.port.read()).sessions).toMatchObject([
        { name: "own", process: "unknown", processAlive: true, agent: "box.z", ledger: null },
      ]);
    });

    test("holds are changed, lifted, and never lifted by damage", async () => {
      const world = make();
      await world.port.changeHolds((holds) => {
        holds["box.a"] = HOLD;
        holds["box.b"] = HOLD;
      });
      await world.port.changeHolds((holds) => {
        delete holds["box.a"];
      });
      expect(await world.port.readHolds()).toEqual({ "box.b": HOLD });
      world.tearHolds();
      expect(world.port.readHolds()).rejects.toThrow("nobody can tell which agents are held");
      expect(world.port.changeHolds(() => undefined)).rejects.toThrow(
        "nobody can tell which agents are held",
      );
    });

    test("a ledger is made, changed, left, and not shared with its reader", async () => {
      const { port } = make();
      const ledger = ledgerFixture("box.a", {
        end: { exitCode: 1, exitedAt: null, lastLines: [], error: null },
      });
      await port.changeLedger("box.a", (found) => {
        expect(found).toBeNull();
        return ledger;
      });
      await port.changeLedger("box.a", () => null);
      await port.changeLedger("box.a", (found) => found && { ...found, endedBy: "down" });
      const read = async () => (await port.read()).sessions[0]?.ledger;
      expect(await read()).toEqual({ ...ledger, endedBy: "down" });
      Object.assign((await read()) ?? {}, { endedBy: null });
      expect((await read())?.endedBy).toBe("down");
    });

    test("a torn ledger is null to the one who changes it", async () => {
      const world = make();
      world.putLedger("box.a", "torn");
      const seen: unknown[] = [];
      await world.port.changeLedger("box.a", (ledger) => {
        seen.push(ledger);
        return ledgerFixture("box.a");
      });
      expect(seen).toEqual([null]);
      expect((await world.port.read()).sessions[0]?.ledger).toEqual(ledgerFixture("box.a"));
    });

    test("tags are set and removed in record and ledger", async () => {
      const world = make();
      world.putLedger("box.a", ledgerFixture("box.a", { tags: { old: "1", kept: "1" } }));
      world.putRecord("box.a", recordFixture({ tags: { old: "1", theirs: "1" } }));
      await world.port.patchTags("box.a", { "strategy.status": "flapping" }, ["old"]);
      const [session] = (await world.port.read()).sessions;
      expect(session?.tags).toEqual({ theirs: "1", "strategy.status": "flapping" });
      expect(session?.ledger?.tags).toEqual({ kept: "1", "strategy.status": "flapping" });
    });

    test("tags of a session whose record is torn are kept by its ledger, and shown from there", async () => {
      const world = make();
      world.putLedger("box.a", ledgerFixture("box.a", { tags: {} }));
      world.putRecord("box.a", "torn");
      await world.port.patchTags("box.a", { x: "1" }, []);
      const { sessions, problems } = await world.port.read();
      expect(sessions[0]?.tags).toEqual({ x: "1" });
      expect(problems).toHaveLength(1);
      expect(world.port.patchTags("box.none", { x: "1" }, [])).rejects.toThrow(
        "neither a record nor a ledger",
      );
    });
  });
}

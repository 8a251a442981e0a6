import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ledgerFixture, recordFixture } from "../../test/fakes/ledgers.ts";
import { cleanUp, freshNetwork, nextLine, start, startScript } from "../../test/fakes/network.ts";
import { sessionPaths } from "../system/paths.ts";
import { createSessionFiles } from "./session-files.ts";

afterEach(cleanUp);

function fresh() {
  const { pty } = freshNetwork();
  return { pty, files: createSessionFiles(pty), paths: sessionPaths(pty, "box.a") };
}

async function failure(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "no failure",
    (error: Error) => error.message,
  );
}

describe("changeRecord", () => {
  test("writes a first record whole, for this user alone, as pty writes it", async () => {
    const { files, paths, pty } = fresh();
    const record = recordFixture({ tags: { role: "agent" } });
    await files.changeRecord("box.a", (found) => {
      expect(found).toBeNull();
      return record;
    });
    expect(readFileSync(paths.record, "utf8")).toBe(JSON.stringify(record, null, 2));
    expect(statSync(paths.record).mode & 0o777).toBe(0o600);
    expect(readdirSync(pty)).toEqual(["box.a.json"]);
  });

  test("keeps members that it does not know, in their place", async () => {
    const { files, paths } = fresh();
    writeFileSync(paths.record, '{"theirs":{"x":[1]},"command":"sh","rows":"many","state":{"a":1}}');
    await files.changeRecord("box.a", (record) => record && { ...record, exitCode: 3 });
    expect(readFileSync(paths.record, "utf8")).toBe(
      JSON.stringify(
        { theirs: { x: [1] }, command: "sh", rows: "many", state: { a: 1 }, exitCode: 3 },
        null,
        2,
      ),
    );
  });

  test("takes a change made in place for one", async () => {
    const { files, paths } = fresh();
    await files.changeRecord("box.a", () => recordFixture());
    await files.changeRecord("box.a", (record) => {
      if (record !== null) record.exitCode = 3;
      return record;
    });
    expect(JSON.parse(readFileSync(paths.record, "utf8"))).toEqual(recordFixture({ exitCode: 3 }) as never);
  });

  test("null, and a change that changes nothing, write nothing", async () => {
    const { files, paths } = fresh();
    writeFileSync(paths.record, JSON.stringify(recordFixture(), null, 2));
    const before = statSync(paths.record);
    await files.changeRecord("box.a", () => null);
    await files.changeRecord("box.a", (record) => record);
    const after = statSync(paths.record);
    expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  });

  test("a torn record is null to the change and may be written anew", async () => {
    const { files, paths } = fresh();
    writeFileSync(paths.record, '{"command": "sh", "ar');
    const found: unknown[] = [];
    await files.changeRecord("box.a", (record) => {
      found.push(record);
      return recordFixture();
    });
    expect(found).toEqual([null]);
    expect(JSON.parse(readFileSync(paths.record, "utf8"))).toEqual(recordFixture() as never);
  });

  test("a record that cannot be read is not written over", async () => {
    const { files, paths } = fresh();
    mkdirSync(paths.record);
    expect(await failure(files.changeRecord("box.a", () => recordFixture()))).toBe(
      `${paths.record} is a directory`,
    );
  });

  test("waits for the record's lock, and says busy when another holds on to it", async () => {
    const { files, paths } = fresh();
    const holder = start(["sleep", "60"]);
    writeFileSync(paths.lock, String(holder.pid));
    expect(await failure(files.changeRecord("box.a", () => recordFixture()))).toBe(
      `${paths.lock} is held by process ${holder.pid}`,
    );
    holder.kill("SIGKILL");
    await holder.exited;
    await files.changeRecord("box.a", () => recordFixture());
    expect(readdirSync(join(paths.record, ".."))).toEqual(["box.a.json"]);
  });

  test("twenty changes at once, half of them another process's, all stand", async () => {
    const { files, paths, pty } = fresh();
    await files.changeRecord("box.a", () => recordFixture());
    const other = startScript(`
      import { createSessionFiles } from ${JSON.stringify(join(import.meta.dir, "session-files.ts"))};
      const files = createSessionFiles(${JSON.stringify(pty)});
      console.log("ready");
      for await (const _ of process.stdin) break;
      await Promise.all(Array.from({ length: 10 }, (_, n) =>
        files.changeRecord("box.a", (r) => ({ ...r, tags: { ...r.tags, ["b" + n]: "1" } }))));`);
    expect(await nextLine(other)).toBe("ready");
    other.stdin.write("go\n");
    other.stdin.flush();
    const changes = Array.from({ length: 10 }, (_, n) =>
      files.changeRecord(
        "box.a",
        (record) => record && { ...record, tags: { ...record.tags, [`a${n}`]: "1" } },
      ),
    );
    await Promise.all(changes);
    expect(await other.exited).toBe(0);
    const { tags } = JSON.parse(readFileSync(paths.record, "utf8"));
    expect(Object.keys(tags)).toHaveLength(20);
  });

  test("a writer without a lock (pty 0.10's tag) loses nothing to us, nor we to it", async () => {
    const { files, paths } = fresh();
    await files.changeRecord("box.a", () => recordFixture());
    let interferences = 3;
    await files.changeRecord("box.a", (record) => {
      if (interferences > 0 && record !== null) {
        const theirs = { ...record, tags: { ...record.tags, [`theirs${interferences}`]: "1" } };
        writeFileSync(paths.record, JSON.stringify(theirs, null, 2));
        interferences -= 1;
      }
      return record && { ...record, tags: { ...record.tags, ours: "1" } };
    });
    expect(JSON.parse(readFileSync(paths.record, "utf8")).tags).toEqual({
      theirs3: "1",
      theirs2: "1",
      theirs1: "1",
      ours: "1",
    });
  });
});

describe("ledgers", () => {
  test("are made with their folder, for this user alone, and read back", async () => {
    const { files, paths, pty } = fresh();
    expect(files.readLedger("box.a")).toBeNull();
    await files.changeLedger("box.a", () => ledgerFixture("box.a"));
    expect(files.readLedger("box.a")).toEqual(ledgerFixture("box.a"));
    expect(statSync(paths.ledger).mode & 0o777).toBe(0o600);
    expect(statSync(join(pty, ".convoy")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(pty, ".convoy", "sessions"))).toEqual(["box.a.json"]);
  });

  test("a change of a newer version's ledger keeps what is not understood", async () => {
    const { files, paths } = fresh();
    await files.changeLedger("box.a", () => ledgerFixture("box.a"));
    writeFileSync(
      paths.ledger,
      JSON.stringify({ ...ledgerFixture("box.a"), v: 2, endedBy: "moon", more: 1 }),
    );
    await files.changeLedger("box.a", (ledger) => ledger && { ...ledger, restarts: 1 });
    expect(JSON.parse(readFileSync(paths.ledger, "utf8"))).toEqual({
      ...ledgerFixture("box.a"),
      v: 2,
      endedBy: "moon",
      more: 1,
      restarts: 1,
    } as never);
  });

  test("a torn one is an error to its reader and null to the one who writes it anew", async () => {
    const { files, paths } = fresh();
    await files.changeLedger("box.a", () => ledgerFixture("box.a"));
    writeFileSync(paths.ledger, "{");
    expect(() => files.readLedger("box.a")).toThrow(`${paths.ledger} is not JSON (torn or not ours)`);
    await files.changeLedger("box.a", (ledger) => (ledger === null ? ledgerFixture("box.a") : null));
    expect(files.readLedger("box.a")).toEqual(ledgerFixture("box.a"));
  });
});

test("a process that is killed right after a write leaves a whole file and a lock that blocks nobody", async () => {
  const { files, paths, pty } = fresh();
  const writer = startScript(
    `import { createSessionFiles } from ${JSON.stringify(join(import.meta.dir, "session-files.ts"))};
     await createSessionFiles(${JSON.stringify(pty)}).changeRecord("box.a", () => (${JSON.stringify(recordFixture())}));`,
    { env: { PATH: "/usr/bin:/bin", CONVOY_TEST_KILL_AFTER: "record-write" } },
  );
  await writer.exited;
  expect(writer.signalCode).toBe("SIGKILL");
  expect(readdirSync(pty).sort()).toEqual(["box.a.json", "box.a.lock"]);
  await files.changeRecord("box.a", (record) => record && { ...record, exitCode: 0 });
  expect(JSON.parse(readFileSync(paths.record, "utf8"))).toEqual(recordFixture({ exitCode: 0 }) as never);
});

test("the launch lock lets one in at a time", async () => {
  const { files } = fresh();
  const order: string[] = [];
  await Promise.all(
    ["a", "b", "c"].map((name) =>
      files.withLaunchLock("box.a", async () => {
        order.push(`${name} in`);
        await Bun.sleep(1);
        order.push(`${name} out`);
      }),
    ),
  );
  expect(order.filter((_, index) => index % 2 === 0).map((line) => line.slice(2))).toEqual([
    "in",
    "in",
    "in",
  ]);
  for (let turn = 0; turn < 3; turn += 1) expect(order[2 * turn]?.[0]).toBe(order[2 * turn + 1]?.[0]);
});

import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, freshFolder, freshNetwork, until } from "../../test/fakes/network.ts";
import { type RegistryWatch, watchRegistry } from "./watch.ts";

const watches: RegistryWatch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close();
  await cleanUp();
});

function watching(folder: string) {
  const changes: string[] = [];
  const problems: string[] = [];
  watches.push(
    watchRegistry(
      folder,
      (file) => changes.push(file),
      (message) => problems.push(message),
    ),
  );
  return { changes, problems };
}

describe("watchRegistry", () => {
  test("tells of records, sockets, pid files and holds, and of nothing else", async () => {
    const { pty, state, holds } = freshNetwork();
    mkdirSync(state);
    const { changes, problems } = watching(pty);
    for (const quiet of ["box.a.events.jsonl", "box.a.lock", "box.a.json.tmp.1.ab", "box.a.json.tmp"]) {
      writeFileSync(join(pty, quiet), "");
    }
    for (const quiet of ["events.jsonl", "up.log", "holds.json.tmp.1.ab", "name"]) {
      appendFileSync(join(state, quiet), "x");
    }
    mkdirSync(join(state, "sessions"));
    writeFileSync(join(state, "sessions", "box.a.json"), "{}");
    renameSync(join(pty, "box.a.json.tmp.1.ab"), join(pty, "box.a.json"));
    writeFileSync(join(pty, "box.b.pid"), "1");
    writeFileSync(join(pty, "box.b.sock"), "");
    renameSync(join(state, "holds.json.tmp.1.ab"), holds);
    await until(() => new Set(changes).size >= 4, "four files told of");
    rmSync(join(pty, "box.b.pid"));
    await until(() => changes.at(-1) === "box.b.pid", "the removal told of");
    expect([...new Set(changes)].sort()).toEqual(["box.a.json", "box.b.pid", "box.b.sock", "holds.json"]);
    expect(problems).toEqual([]);
  });

  test("sees holds in a state folder that is made, or made anew, after it began", async () => {
    const { pty, state, holds } = freshNetwork();
    const { changes } = watching(pty);
    for (let turn = 1; turn <= 2; turn += 1) {
      changes.length = 0;
      mkdirSync(state);
      writeFileSync(holds, "{}");
      await until(() => changes.includes("holds.json"), `holds told of, turn ${turn}`);
      rmSync(state, { recursive: true });
    }
  });

  test("says so once when there is nothing to watch, or no longer", async () => {
    const missing = watching(join(freshFolder(), "none"));
    expect(missing.problems).toHaveLength(1);
    expect(missing.problems[0]).toContain("cannot watch /tmp/cv-");
    const { pty } = freshNetwork();
    const { problems } = watching(pty);
    rmSync(pty, { recursive: true });
    await until(() => problems.length > 0, "the removal told of");
    expect(problems[0]).toBe(`${pty} was removed; what happens there is seen by the timer only`);
  });

  test("is silent once closed", async () => {
    const { pty } = freshNetwork();
    const { changes } = watching(pty);
    watches.splice(0)[0]?.close();
    const later = watching(pty);
    writeFileSync(join(pty, "box.a.json"), "{}");
    await until(() => later.changes.length > 0, "the second watch told of it");
    expect(changes).toEqual([]);
  });
});

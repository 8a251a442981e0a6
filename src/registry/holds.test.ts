import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, freshNetwork, startScript } from "../../test/fakes/network.ts";
import { changeHolds, readHolds } from "./holds.ts";

afterEach(cleanUp);

const HOLD = { at: "2026-11-30T10:00:00.000Z", by: "down (pid 1)" };

describe("holds", () => {
  test("are none without a file, and stand once written", async () => {
    const { holds: path } = freshNetwork();
    expect(readHolds(path)).toEqual({});
    await changeHolds(path, (holds) => {
      holds["box.a"] = HOLD;
      holds["box.b"] = HOLD;
    });
    await changeHolds(path, (holds) => {
      delete holds["box.b"];
    });
    expect(readHolds(path)).toEqual({ "box.a": HOLD });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["holds.json"]);
  });

  test("keep members that they do not know, and are not written when nothing changed", async () => {
    const { holds: path, state } = freshNetwork();
    mkdirSync(state, { recursive: true });
    const text = JSON.stringify({ "box.a": { ...HOLD, note: "mine" }, "box.b": true });
    writeFileSync(path, text);
    await changeHolds(path, () => undefined);
    expect(readFileSync(path, "utf8")).toBe(text);
    await changeHolds(path, (holds) => {
      holds["box.c"] = HOLD;
    });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      "box.a": { ...HOLD, note: "mine" },
      "box.b": true,
      "box.c": HOLD,
    });
  });

  test("an entry that cannot be understood still holds", () => {
    const { holds: path, state } = freshNetwork();
    mkdirSync(state, { recursive: true });
    writeFileSync(path, '{"box.a": 7, "box.b": {"by": "me"}}');
    expect(readHolds(path)).toEqual({ "box.a": { at: "", by: "unknown" }, "box.b": { at: "", by: "me" } });
  });

  test.each([
    ["", "is empty"],
    ['{"box.a": {', "is not JSON (torn or not ours)"],
    ["[]", "holds a list, not an object"],
  ])("%p lifts nothing: it is an error, and stays as it is", async (text, fault) => {
    const { holds: path, state } = freshNetwork();
    mkdirSync(state, { recursive: true });
    writeFileSync(path, text);
    const message = `${path} ${fault}, so nobody can tell which agents are held; nothing is launched`;
    expect(() => readHolds(path)).toThrow(message);
    expect(changeHolds(path, () => undefined)).rejects.toThrow(message);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("forty holds written at once by two processes all stand", async () => {
    const { holds: path } = freshNetwork();
    const source = (who: string) => `
      import { changeHolds } from ${JSON.stringify(join(import.meta.dir, "holds.ts"))};
      for (let n = 0; n < 20; n += 1) await changeHolds(${JSON.stringify(path)}, (holds) => {
        holds["${who}." + n] = ${JSON.stringify(HOLD)}; });`;
    const workers = [startScript(source("a")), startScript(source("b"))];
    expect(await Promise.all(workers.map((worker) => worker.exited))).toEqual([0, 0]);
    expect(Object.keys(readHolds(path))).toHaveLength(40);
  });
});

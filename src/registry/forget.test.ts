import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { ledgerFixture, recordFixture } from "../../test/fakes/ledgers.ts";
import { cleanUp, freshNetwork } from "../../test/fakes/network.ts";
import type { Ledger } from "../ledger.ts";
import { type NetworkPaths, sessionPaths } from "../system/paths.ts";
import { identityOf, processTable } from "../system/processes.ts";
import { forgetSession } from "./forget.ts";

afterEach(cleanUp);

function write(network: NetworkPaths, name: string, ledger: Partial<Ledger>): void {
  const paths = sessionPaths(network.pty, name);
  mkdirSync(network.ledgers, { recursive: true });
  writeFileSync(paths.ledger, JSON.stringify(ledgerFixture(name, { boot: processTable.boot(), ...ledger })));
  writeFileSync(paths.record, JSON.stringify(recordFixture()));
  for (const path of [paths.events, paths.pid]) writeFileSync(path, "");
}

const END = { exitCode: 0, exitedAt: "2026-11-30T10:00:01.000Z", lastLines: [], error: null };

describe("forgetSession", () => {
  test("removes every file of a dead session, and no other's", async () => {
    const network = freshNetwork();
    write(network, "box.a", { end: END });
    write(network, "box.a.b", { end: END });
    expect(await forgetSession(network.pty, "box.a")).toEqual({ result: "forgotten" });
    expect(readdirSync(network.pty).sort()).toEqual([
      ".convoy",
      "box.a.b.events.jsonl",
      "box.a.b.json",
      "box.a.b.pid",
    ]);
    expect(readdirSync(network.ledgers)).toEqual(["box.a.b.json"]);
    expect(await forgetSession(network.pty, "box.a")).toEqual({ result: "none" });
  });

  test("forgets a launch that was cut short, though it holds the launch lock itself", async () => {
    const network = freshNetwork();
    write(network, "box.a", { launchedAt: new Date().toISOString() });
    expect(await forgetSession(network.pty, "box.a")).toEqual({ result: "forgotten" });
  });

  test("refuses one that lives, and one that nobody can tell of, and touches nothing", async () => {
    const network = freshNetwork();
    write(network, "box.a", { host: identityOf(process.pid) });
    writeFileSync(sessionPaths(network.pty, "own").record, JSON.stringify(recordFixture()));
    const before = readdirSync(network.pty);
    expect(await forgetSession(network.pty, "box.a")).toEqual({ result: "refused", reason: "alive" });
    expect(await forgetSession(network.pty, "own")).toEqual({ result: "refused", reason: "unknown" });
    expect(readdirSync(network.pty)).toEqual(before);
  });
});

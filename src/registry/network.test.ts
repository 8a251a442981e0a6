import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, freshFolder } from "../../test/fakes/network.ts";
import { networkPaths } from "../system/paths.ts";
import { createNetwork, inspectNetwork } from "./network.ts";

afterEach(cleanUp);

describe("a network's folders", () => {
  test("are made once, the registry for this user alone, and found again", () => {
    const paths = networkPaths(join(freshFolder(), "net"));
    expect(inspectNetwork(paths)).toEqual({ root: false, catalog: false, ledgers: false });
    expect(createNetwork(paths)).toEqual([paths.catalog, paths.smalltalk, paths.pty, paths.worktrees]);
    expect(readdirSync(paths.root).sort()).toEqual(["catalog", "pty", "smalltalk", "worktrees"]);
    expect(statSync(paths.pty).mode & 0o777).toBe(0o700);
    expect(createNetwork(paths)).toEqual([]);
    rmSync(paths.worktrees, { recursive: true });
    expect(createNetwork(paths)).toEqual([paths.worktrees]);
    expect(inspectNetwork(paths)).toEqual({ root: true, catalog: true, ledgers: false });
    mkdirSync(paths.ledgers, { recursive: true });
    writeFileSync(join(paths.ledgers, "box.a.json"), "{}");
    rmSync(paths.catalog, { recursive: true });
    expect(inspectNetwork(paths)).toEqual({ root: true, catalog: false, ledgers: true });
  });

  test("where something ran, it is found whatever stands in the catalog's place", () => {
    const paths = networkPaths(freshFolder());
    writeFileSync(paths.catalog, "");
    expect(() => inspectNetwork(paths)).toThrow("a file is in the way");
    mkdirSync(paths.ledgers, { recursive: true });
    writeFileSync(join(paths.ledgers, "box.a.json"), "{}");
    expect(inspectNetwork(paths)).toEqual({ root: true, catalog: false, ledgers: true });
    rmSync(paths.catalog);
    symlinkSync(paths.catalog, paths.catalog);
    expect(inspectNetwork(paths)).toEqual({ root: true, catalog: false, ledgers: true });
  });

  test("a file in the way is named", () => {
    const paths = networkPaths(freshFolder());
    writeFileSync(paths.catalog, "");
    expect(() => createNetwork(paths)).toThrow(`${paths.catalog} cannot be a folder: a file is in the way`);
    const below = networkPaths(join(paths.catalog, "net"));
    expect(() => createNetwork(below)).toThrow(`cannot create ${below.root}: `);
  });
});

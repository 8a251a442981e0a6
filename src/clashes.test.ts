import { describe, expect, test } from "bun:test";
import {
  broken,
  error,
  good,
  inForce,
  ran,
  rows,
  type Scene,
  said,
  stays,
  unparsed,
  without,
} from "../test/fakes/catalogs.ts";

const clash = (what: string, paths: readonly string[]) =>
  paths.map((path) => {
    const message = `${what} is declared in ${paths.join(" and ")}: keep one of them; neither is acted on`;
    return `error ${path}:null ${message}`;
  });
const [first, second] = clash('identity "a"', ["a.toml", "b.toml"]) as [string, string];

/** Name, scene, agents in force, problems. */
const table: [string, Scene, string[], string[]][] = [
  [
    "two files, one identity",
    { files: [good("a.toml", "a"), good("b.toml", "a")] },
    ["box.a catalog a.toml, conflict, not recoverable"],
    clash('identity "a"', ["a.toml", "b.toml"]),
  ],
  [
    "two files, one identity, ran before",
    { files: [good("a.toml", "a"), good("b.toml", "a")], ledgers: [ran("a", "a.toml")] },
    ["box.a last-good a.toml, conflict"],
    clash('identity "a"', ["a.toml", "b.toml"]),
  ],
  [
    "two files, one identity, ended by down",
    {
      files: [good("a.toml", "a"), good("b.toml", "a")],
      ledgers: [ran("a", "a.toml", { endedBy: "down" })],
    },
    ["box.a last-good a.toml, conflict, not recoverable"],
    clash('identity "a"', ["a.toml", "b.toml"]),
  ],
  [
    "two hosts, one identity",
    { files: [good("a.toml", "a"), good("b.toml", "a", { host: "shed" })] },
    ["box.a catalog a.toml, conflict, not recoverable", "shed.a catalog b.toml, conflict, not recoverable"],
    clash('identity "a"', ["a.toml", "b.toml"]),
  ],
  [
    "Worker freezes worker",
    {
      files: [good("a.toml", "worker"), without("b.toml", { claimedIdentity: "Worker" })],
      problems: [error("b.toml")],
    },
    ["box.worker catalog a.toml, conflict, not recoverable"],
    [...clash('identity "worker"', ["a.toml", "b.toml"]), broken("b.toml")],
  ],
  [
    "a broken file's last good version clashes too",
    {
      files: [unparsed("a.toml"), good("b.toml", "a")],
      problems: [error("a.toml")],
      ledgers: [ran("a", "a.toml")],
    },
    ["box.a last-good a.toml, conflict"],
    [first, broken("a.toml"), stays("a.toml", "a"), second],
  ],
  [
    "two agents, one session id",
    {
      files: [
        good("a.toml", "a", { prefix: "x.b" }),
        good("b.toml", "b.a", { prefix: "x" }),
        good("c.toml", "c"),
      ],
    },
    [
      "box.a catalog a.toml, conflict, not recoverable",
      "box.b.a catalog b.toml, conflict, not recoverable",
      "box.c catalog c.toml",
    ],
    clash('session id "x.b.a"', ["a.toml", "b.toml"]),
  ],
];

describe("clashes in what is in force", () => {
  for (const [name, scene, agents, problems] of table) {
    test(name, () => {
      const found = inForce(scene);
      expect({ agents: rows(found), problems: said(found) }).toEqual({ agents, problems });
    });
  }
});

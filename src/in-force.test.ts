import { describe, expect, test } from "bun:test";
import {
  broken,
  emptied,
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
import { declarationOf } from "../test/generators/declarations.ts";

const gone = (path: string, identity: string) =>
  `warning ${path}:null no longer declares ${identity}: what runs is kept, and recovered from its last good declaration; to end it, \`convoy down --agent ${identity}\``;
const nothing = (path: string, identity: string) =>
  `error ${path}:1 declares nothing any more, neither identity nor role: its last good declaration (${identity}) stays in force; write it back, or end the agent with \`convoy down --agent ${identity}\``;

/** Name, scene, agents in force, problems. */
const table: [string, Scene, string[], string[]][] = [
  ["a good file", { files: [good("a.toml", "a")] }, ["box.a catalog a.toml"], []],
  ["some other document", { files: [emptied("x.json")] }, [], []],
  [
    "broken from the start",
    { files: [unparsed("a.toml")], problems: [error("a.toml")] },
    [],
    [broken("a.toml")],
  ],
  [
    "broken, ran before",
    { files: [unparsed("a.toml")], problems: [error("a.toml")], ledgers: [ran("a", "a.toml")] },
    ["box.a last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "broken, ended by down",
    {
      files: [unparsed("a.toml")],
      problems: [error("a.toml")],
      ledgers: [ran("a", "a.toml", { endedBy: "down" })],
    },
    ["box.a last-good a.toml, not recoverable"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "broken, ended to be restarted",
    {
      files: [unparsed("a.toml")],
      problems: [error("a.toml")],
      ledgers: [ran("a", "a.toml", { endedBy: "restart" })],
    },
    ["box.a last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "emptied",
    { files: [emptied("a.toml")], ledgers: [ran("a", "a.toml")] },
    ["box.a last-good a.toml"],
    [nothing("a.toml", "a")],
  ],
  [
    "emptied because it moved into another file",
    { files: [emptied("a.toml"), good("b.toml", "a")], ledgers: [ran("a", "a.toml")] },
    ["box.a catalog b.toml"],
    [],
  ],
  [
    "emptied, and another file claims the identity in vain",
    {
      files: [emptied("a.toml"), without("b.toml", { claimedIdentity: "A" })],
      problems: [error("b.toml")],
      ledgers: [ran("a", "a.toml")],
    },
    ["box.a last-good b.toml"],
    [broken("b.toml"), stays("b.toml", "a")],
  ],
  [
    "lost its identity",
    { files: [without("a.toml")], problems: [error("a.toml")], ledgers: [ran("a", "a.toml")] },
    ["box.a last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "lost its role",
    {
      files: [without("a.toml", { claimedIdentity: "a" })],
      problems: [error("a.toml")],
      ledgers: [ran("a", "a.toml")],
    },
    ["box.a last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "lost its host, and its folder says another",
    {
      files: [{ ...good("shed/a/agent.toml", "a", { host: "shed" }), hostWritten: false }],
      ledgers: [ran("a", "shed/a/agent.toml")],
    },
    ["box.a last-good shed/a/agent.toml"],
    [
      'error shed/a/agent.toml:1 has lost "host", which its last good version had: write host = "box" back; its last good declaration (a) stays in force until then',
    ],
  ],
  [
    "never had a host",
    {
      files: [{ ...good("a.toml", "a", { host: null }), hostWritten: false }],
      ledgers: [
        ran("a", "a.toml", {
          declaration: { path: "a.toml", hostWritten: false, declaration: declarationOf({ identity: "a" }) },
        }),
      ],
    },
    ["box.a catalog a.toml"],
    [],
  ],
  [
    "lost its host and became another agent",
    {
      files: [{ ...good("a.toml", "b", { host: null }), hostWritten: false }],
      ledgers: [ran("a", "a.toml")],
    },
    ["box.a ledger a.toml", "box.b catalog a.toml"],
    [gone("a.toml", "a")],
  ],
  [
    "moved to another host",
    { files: [good("a.toml", "a", { host: "shed" })], ledgers: [ran("a", "a.toml")] },
    ["shed.a catalog a.toml"],
    [],
  ],
  ["file gone", { ledgers: [ran("a", "a.toml")] }, ["box.a ledger a.toml"], [gone("a.toml", "a")]],
  ["file gone, ended by down", { ledgers: [ran("a", "a.toml", { endedBy: "down" })] }, [], []],
  ["file gone, retired before", { ledgers: [ran("a", "a.toml", {}, { retired: true })] }, [], []],
  ["file gone, was another host's by then", { ledgers: [ran("a", "a.toml", {}, { host: "shed" })] }, [], []],
  [
    "catalog missing",
    {
      state: "missing",
      problems: [{ severity: "error", path: ".", line: null, message: "is missing" }],
      ledgers: [ran("a", "a.toml")],
    },
    ["box.a ledger a.toml"],
    ["error .:null is missing", gone("a.toml", "a")],
  ],
  [
    "file renamed",
    { files: [good("new.toml", "a")], ledgers: [ran("a", "old.toml")] },
    ["box.a catalog new.toml"],
    [],
  ],
  [
    "file renamed and broken, identity still legible",
    {
      files: [without("new.toml", { claimedIdentity: "a" })],
      problems: [error("new.toml")],
      ledgers: [ran("a", "old.toml")],
    },
    ["box.a last-good new.toml"],
    [broken("new.toml"), stays("new.toml", "a")],
  ],
  [
    "broken: what its path says counts before what its identity says",
    {
      files: [without("a.toml", { claimedIdentity: "b" })],
      problems: [error("a.toml")],
      ledgers: [ran("a", "a.toml"), ran("b", "b.toml", { endedBy: "down" })],
    },
    ["box.a last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "a")],
  ],
  [
    "the newest launch knows the last good version",
    {
      files: [unparsed("a.toml")],
      problems: [error("a.toml")],
      ledgers: [
        ran("new", "a.toml", { launchedAt: "2026-11-30T12:00:00.000Z" }),
        ran("old", "a.toml", { launchedAt: "2026-11-30T11:00:00.000Z", endedBy: "down" }),
      ],
    },
    ["box.new last-good a.toml"],
    [broken("a.toml"), stays("a.toml", "new")],
  ],
  [
    "a socket path that is too long",
    { files: [good("a.toml", "a")], network: `/${"n".repeat(97)}` },
    [],
    [
      `error a.toml:null socket path /${"n".repeat(97)}/pty/box.a.sock has 113 bytes, at most 103 are possible: take a name that is 10 shorter, or a network in a shorter path`,
    ],
  ],
];

describe("what is in force", () => {
  for (const [name, scene, agents, problems] of table) {
    test(name, () => {
      const found = inForce(scene);
      expect({ agents: rows(found), problems: said(found) }).toEqual({ agents, problems });
    });
  }
});

test("what a clash compiles to comes from its ledger, under the path of the first file", () => {
  const files = [good("a.toml", "a", { workspace: "/new" }), good("b.toml", "a", { workspace: "/other" })];
  const { agents } = inForce({ files, ledgers: [ran("a", "a.toml", {}, { workspace: "/old" })] });
  expect(agents.map(({ entry, specs }) => [entry.path, specs[0]?.cwd])).toEqual([["a.toml", "/old"]]);
});

test("undeclared: what ran here and nothing in force names", () => {
  const ledgers = [ran("a", "a.toml"), ran("b", "b.toml", { endedBy: "down" })];
  expect([...inForce({ files: [good("a.toml", "a")], ledgers }).undeclared]).toEqual(["box.b"]);
});

test("a supervisor on another host is named by its own bus id", () => {
  const files = [good("a.toml", "a", { supervisor: "boss" }), good("boss.toml", "boss", { host: "shed" })];
  expect(inForce({ files }).agents[0]?.specs[0]?.tags["convoy.spawner"]).toBe("shed.boss");
});

import { describe, expect, test } from "bun:test";
import { error, good, inForce, ran, type Scene, unparsed, without } from "../test/fakes/catalogs.ts";
import { type FoundDeclaration, findDeclaration } from "./declared-agents.ts";

const two = [good("a.toml", "a"), good("b.toml", "b", { prefix: "x", transport: "ding" })];
const frozen = (message: string, next: string | null): FoundDeclaration => ({
  kind: "frozen",
  message,
  next,
});
const unknown = (nearest: string | null): FoundDeclaration => ({ kind: "unknown", nearest });

/** Name, what is typed, scene, what is found: the identity, or why none. */
const table: [string, string, Scene, FoundDeclaration | string][] = [
  ["an identity", "a", { files: two }, "a"],
  ["a bus id", "box.a", { files: two }, "a"],
  ["a session id", "x.b", { files: two }, "b"],
  ["a sidecar's session id", "x.b.ding", { files: two }, "b"],
  ["another host's", "c", { files: [good("c.toml", "c", { host: "shed" })] }, "c"],
  ["nothing like it", "zebra", { files: two }, unknown(null)],
  ["something like it", "boxa", { files: two }, unknown("box.a")],
  ["another case", "A", { files: two }, unknown("a")],
  [
    "two agents by one word",
    "box.a",
    { files: [good("a.toml", "a"), good("b.toml", "box.a")] },
    { kind: "ambiguous", busIds: ["box.a", "box.box.a"] },
  ],
  [
    "a clash",
    "a",
    { files: [good("a.toml", "a"), good("b.toml", "a")] },
    frozen('identity "a" is declared in a.toml and b.toml: keep one of them; neither is acted on', null),
  ],
  [
    "a session id that clashes",
    "x.b.a",
    { files: [good("a.toml", "a", { prefix: "x.b" }), good("b.toml", "b.a", { prefix: "x" })] },
    frozen(
      'session id "x.b.a" is declared in a.toml and b.toml: keep one of them; neither is acted on',
      null,
    ),
  ],
  [
    "a broken file that ran before",
    "a",
    { files: [unparsed("a.toml")], problems: [error("a.toml")], ledgers: [ran("a", "a.toml")] },
    frozen(
      "a.toml has an error, so that the last good declaration of a counts in its place: mend it first",
      "convoy validate",
    ),
  ],
  [
    "a file that is gone",
    "a",
    { ledgers: [ran("a", "a.toml")] },
    frozen("no file declares a any more (a.toml did)", "convoy down --agent a"),
  ],
  [
    "a file that never was right",
    "a",
    { files: [without("a.toml", { claimedIdentity: "A" })], problems: [error("a.toml")] },
    frozen("a.toml has an error: mend it first", "convoy validate"),
  ],
  [
    "two that never were",
    "a",
    {
      files: [without("a.toml", { claimedIdentity: "a" }), without("b.toml", { claimedIdentity: "a" })],
      problems: [error("a.toml"), error("b.toml")],
    },
    frozen("a.toml and b.toml have errors: mend them first", "convoy validate"),
  ],
];

describe("the declaration that is meant", () => {
  for (const [name, ref, scene, expected] of table) {
    test(name, () => {
      const { files = [], problems = [] } = scene;
      const found = findDeclaration(ref, { state: "read", files, problems }, inForce(scene));
      expect<unknown>(found.kind === "found" ? found.agent.entry.declaration.identity : found).toEqual(
        expected,
      );
    });
  }
});

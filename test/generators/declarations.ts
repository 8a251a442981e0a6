/** Random declarations and sessions in which identities, hosts and ids collide, for the property tests. */
import fc from "fast-check";
import type { CatalogEntry, Declaration } from "../../src/declaration.ts";
import { agentBusId } from "../../src/reconcile.ts";
import type { Identification, ObservedSession, SessionStatus } from "../../src/session.ts";

export const THIS_HOST = "box";

/** A declaration with everything at its default. */
export function declarationOf(over: Partial<Declaration> & { identity: string }): Declaration {
  return {
    role: "worker",
    supervisor: null,
    host: null,
    workspace: null,
    harness: "claude",
    bin: null,
    model: null,
    transport: "mcp",
    persona: null,
    strategy: "permanent",
    retired: false,
    prefix: null,
    env: {},
    render: { file: [], dir: [] },
    tasks: [],
    ...over,
  };
}

/** A session with everything at its default: running, ours, nobody's. */
export function sessionOf(over: Partial<ObservedSession> & { name: string }): ObservedSession {
  const process = over.process ?? "ours";
  return {
    status: "running",
    process,
    processAlive: process !== "not-ours",
    pid: 100,
    exitCode: null,
    exitedAt: null,
    tags: {},
    command: "sh",
    args: ["-c", "true"],
    agent: null,
    ledger: null,
    ...over,
  };
}

const identity = fc.constantFrom("a", "b", "c", "d", "e");
const host = fc.constantFrom(null, null, "box", "box", "shed");

export const declaration: fc.Arbitrary<Declaration> = fc
  .record({
    identity,
    host,
    retired: fc.boolean(),
    strategy: fc.constantFrom("permanent" as const, "batch" as const),
    supervisor: fc.option(identity),
    prefix: fc.constantFrom(null, null, null, "box"),
    transport: fc.constantFrom("ding" as const, "mcp" as const),
  })
  .map(declarationOf);

/** Paths are unique, identities are not. */
export const entries: fc.Arbitrary<CatalogEntry[]> = fc
  .array(declaration, { minLength: 1, maxLength: 8 })
  .map((declarations) =>
    declarations.map((found, index) => ({ declaration: found, path: `${found.host ?? "x"}/${index}.toml` })),
  );

const PROCESS_OF: Readonly<Record<SessionStatus, readonly Identification[]>> = {
  running: ["ours", "ours", "unknown"],
  exited: ["not-ours", "not-ours", "ours", "unknown"],
  vanished: ["not-ours", "not-ours", "ours", "unknown"],
};

const TAGS: readonly Record<string, string>[] = [
  { role: "agent" },
  { role: "agent" },
  { role: "ding" },
  { "convoy.task": "web" },
  {},
];

/** Sessions, at least half of which are some entry's. */
export function sessionsFor(declared: readonly CatalogEntry[]): fc.Arbitrary<ObservedSession[]> {
  const owners = [...declared.map((entry) => agentBusId(entry.declaration, THIS_HOST)), "box.z", null];
  const one = fc
    .record({
      owner: fc.constantFrom(...owners),
      status: fc.constantFrom<SessionStatus>("running", "exited", "vanished"),
      pick: fc.nat({ max: 11 }),
      tags: fc.constantFrom(...TAGS),
      exitCode: fc.constantFrom(0, 0, 1, 137),
    })
    .map(({ owner, status, pick, tags, exitCode }) => {
      const choices = PROCESS_OF[status];
      const process = choices[pick % choices.length] ?? "unknown";
      return { owner, status, process, tags, exitCode: status === "exited" ? exitCode : null };
    });
  return fc
    .array(one, { maxLength: 8 })
    .map((found) =>
      found.map(({ owner, ...rest }, index) => sessionOf({ name: `s${index}`, agent: owner, ...rest })),
    );
}

export const scene = entries.chain((declared) =>
  sessionsFor(declared).map((sessions) => ({ entries: declared, sessions })),
);

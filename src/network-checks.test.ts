import { expect, test } from "bun:test";
import {
  checkLocks,
  checkPathLengths,
  checkPermissions,
  checkService,
  checkSessions,
  type FolderFacts,
  type LockFacts,
} from "./network-checks.ts";

const shown = ({ answer, message, fix }: { answer: string; message: string; fix: string | null }) =>
  fix === null ? [answer, message] : [answer, message, fix];

const SHORTER = "a shorter path for the network: convoy init <shorter>";
const LONG = `/${"n".repeat(65)}`;
test.each<[string, string[], string | null, string[]]>([
  ["/n", [], null, ["pass", "room for session ids of 91 bytes"]],
  ["/ü", [], null, ["pass", "room for session ids of 90 bytes"]],
  [LONG, [], null, ["fail", "room for session ids of 27 bytes", SHORTER]],
  [LONG, ["box.a"], null, ["pass", "room for session ids of 27 bytes"]],
  ["/n", ["box.a"], "socket path x is too long", ["fail", "socket path x is too long", SHORTER]],
  [
    LONG,
    ["box.a", "b".repeat(28)],
    null,
    ["fail", expect.stringContaining("has 104 bytes, at most 103 are possible") as never, SHORTER],
  ],
])("path lengths of %s with %j", (network, names, refused, expected) => {
  expect(shown(checkPathLengths(network, names, refused))).toEqual(expected);
});

const FOLDER: FolderFacts = {
  path: "/n/pty",
  present: true,
  isPrivate: true,
  mode: 0o700,
  own: true,
  writable: true,
};
test.each<[Partial<FolderFacts>, string[]]>([
  [{}, ["pass", "1 folder: own, writable, and private where they must be"]],
  [{ mode: 0o755, isPrivate: false }, ["pass", "1 folder: own, writable, and private where they must be"]],
  [{ mode: 0o755 }, ["fail", "/n/pty is open to other users (755)", "chmod 700 '/n/pty'"]],
  [{ writable: false }, ["fail", "/n/pty cannot be written to", "chmod u+rwx '/n/pty'"]],
  [{ own: false }, ["fail", "/n/pty belongs to another user", `sudo chown -R "$(id -un)" '/n/pty'`]],
  [{ present: false, own: false }, ["unknown", "there is no folder of the network yet", "convoy init"]],
])("permissions: %j", (over, expected) => {
  expect(shown(checkPermissions([{ ...FOLDER, ...over }]))).toEqual(expected);
});

const lock = (held: boolean, ageMs: number): LockFacts => ({ path: "/n/a.lock", held, ageMs });
test.each<[LockFacts[], string[]]>([
  [[], ["pass", "none"]],
  [
    [lock(true, 10), lock(false, 10)],
    ["pass", "none; 2 locks in use"],
  ],
  [
    [lock(true, 90_000)],
    ["unknown", "/n/a.lock has been held for 90 s", "look who holds it: cat '/n/a.lock'"],
  ],
  [
    [lock(true, 90_000), lock(false, 90_000)],
    [
      "fail",
      "1 lock of dead processes, /n/a.lock for one",
      "convoy up --once removes them, when no supervisor runs; so does the next who wants one",
    ],
  ],
])("locks: %j", (locks, expected) => {
  expect(shown(checkLocks(locks))).toEqual(expected);
});

type State = Parameters<typeof checkSessions>[0][number]["sessions"][number]["state"];
const agent = (identity: string, state: State, pid: number | null = 7) => ({
  identity,
  sessions: [{ name: `box.${identity}`, state, pid }],
});
test.each<[ReturnType<typeof agent>[], string[]]>([
  [[], ["pass", "0 sessions, none orphaned, none unverifiable"]],
  [
    [agent("a", "running"), agent("b", "flapping")],
    ["pass", "2 sessions, none orphaned, none unverifiable"],
  ],
  [[agent("a", "unknown")], ["unknown", "cannot tell whether these live: box.a", "ps -p 7"]],
  [[agent("a", "unknown", null)], ["unknown", "cannot tell whether these live: box.a", "convoy ls"]],
  [
    [agent("a", "unknown"), agent("b", "orphaned"), agent("c", "orphaned")],
    ["fail", "orphaned, without screen and input: box.b, box.c", "when it suits: convoy restart b"],
  ],
])("sessions: %j", (agents, expected) => {
  expect(shown(checkSessions(agents))).toEqual(expected);
});

test.each<[Parameters<typeof checkService>[1], string[]]>([
  [null, ["pass", "none is installed for this network"]],
  [[], ["pass", "u supervises"]],
  [[{ severity: "warning", message: "it waits", next: "kill 9" }], ["pass", "u: it waits"]],
  [
    [
      { severity: "warning", message: "it waits", next: "kill 9" },
      { severity: "error", message: "it is stopped", next: "start it" },
    ],
    ["fail", "u: it is stopped", "start it"],
  ],
])("service: %j", (problems, expected) => {
  expect(shown(checkService("u", problems))).toEqual(expected);
});

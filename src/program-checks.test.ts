import { expect, test } from "bun:test";
import {
  checkCredentials,
  checkHarnesses,
  checkProgram,
  namesSetIn,
  type ProgramFacts,
} from "./program-checks.ts";

const shown = ({ name, answer, message, fix }: ReturnType<typeof checkProgram>) =>
  fix === null ? [name, answer, message] : [name, answer, message, fix];

const CLAUDE: ProgramFacts = {
  name: "claude",
  searched: "/bin",
  path: "/bin/claude",
  version: "2.1 (Claude Code)",
  agents: ["a", "b"],
};
test.each<[Partial<ProgramFacts>, string[]]>([
  [{}, ["program claude", "pass", "/bin/claude, 2.1 (Claude Code), for a, b"]],
  [{ version: null }, ["program claude", "unknown", "/bin/claude, for a, b; its version is not known"]],
  [
    { path: null },
    ["program claude", "fail", "not on PATH (/bin), and a, b needs it", "install claude, or put it on PATH"],
  ],
  [{ name: "st", path: "/bin/st", version: "st 1" }, ["st", "pass", "/bin/st, st 1, for a, b"]],
  [
    { name: "st", path: null },
    [
      "st",
      "fail",
      "not on PATH (/bin): nothing rings when a message comes for a, b",
      'put st on PATH, or declare transport = "mcp"',
    ],
  ],
])("program: %j", (over, expected) => {
  expect(shown(checkProgram({ ...CLAUDE, ...over }))).toEqual(expected);
});

test("harnesses, where no agent needs one", () => {
  const there = { name: "claude", path: "/bin/claude", version: "2.1" };
  const bare = { name: "pi", path: "/bin/pi", version: null };
  const absent = { name: "codex", path: null, version: null };
  expect(shown(checkHarnesses([there, absent, bare]))).toEqual([
    "harnesses",
    "pass",
    "on PATH: claude (2.1), pi; no agent declared here needs one",
  ]);
  expect(shown(checkHarnesses([absent]))).toEqual([
    "harnesses",
    "unknown",
    "none of codex is on PATH; no agent declared here needs one",
    "install one of them",
  ]);
});

test.each<[string[], string[], string[]]>([
  [["A_API_KEY"], [], ["credentials", "pass", "set here: A_API_KEY"]],
  [["A_API_KEY"], ["B"], ["credentials", "pass", "set here: A_API_KEY; in the service's file: B"]],
  [[], [], ["credentials", "unknown", "none is set here; a harness may have a login of its own"]],
])("credentials %j %j", (here, inFile, expected) => {
  expect(shown(checkCredentials(here, inFile))).toEqual(expected);
});

test("names that a shell file sets, and no values", () => {
  expect(namesSetIn("# A=1\nB=2\n export C='x D=3'\nB=4\n. other\n E_1=\n9F=1\n")).toEqual(["B", "C", "E_1"]);
  expect(namesSetIn("")).toEqual([]);
});

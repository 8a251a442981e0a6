import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  dirDestProblem,
  fileDestProblem,
  isToWrite,
  mergeExclude,
  modeProblem,
  normalDest,
  planSources,
} from "./render.ts";

const outside = (dest: string) =>
  `${JSON.stringify(dest)} must be inside the workspace: a relative path without ".."`;

describe("a destination", () => {
  test("is inside the workspace, and not git's", () => {
    const good = [
      "a",
      ".claude/settings.json",
      "./a//b",
      "~a/b",
      "..a/b",
      "a/...",
      ".github/x",
      ".gitignore",
    ];
    expect(good.map(fileDestProblem)).toEqual(good.map(() => null));
    const table: [dest: string, problem: string][] = [
      [" ", "is empty"],
      ["..", outside("..")],
      ["a/../../b", outside("a/../../b")],
      ["a/..", outside("a/..")],
      ["/etc/x", outside("/etc/x")],
      ["~/x", outside("~/x")],
      ["~", outside("~")],
      ["$HOME/x", outside("$HOME/x")],
      [".git/hooks/pre-commit", '".git/hooks/pre-commit" is in git\'s own folder'],
      ["a/.GIT/config", '"a/.GIT/config" is in git\'s own folder'],
      ["a\nb", '"a\\nb" contains a control character'],
    ];
    for (const [dest, problem] of table)
      expect([fileDestProblem(dest), dirDestProblem(dest)]).toEqual([problem, problem]);
  });

  test("of a file is no folder", () => {
    for (const dest of [".", "./", "a/", "a/."]) {
      expect(fileDestProblem(dest)).toBe(`${JSON.stringify(dest)} names a folder, not a file`);
      expect(dirDestProblem(dest)).toBe(null);
    }
  });

  test("without a problem never leads upwards, however it is spelt", () => {
    const part = fc.constantFrom(".", "..", "", "a", "~", ".git", "b c", "...");
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const dest = parts.join("/");
        if (dirDestProblem(dest) !== null) return;
        const normal = normalDest(dest);
        expect(normal.split("/").filter((one) => one === ".." || one === "." || one === ".git")).toEqual([]);
        expect(normal.startsWith("/")).toBe(false);
        expect(normalDest(normal)).toBe(normal);
      }),
    );
  });
});

test("a mode is three octal digits", () => {
  for (const mode of ["644", "0755", "0o600"]) expect(modeProblem(mode)).toBe(null);
  for (const mode of ["", "7", "888", "4755", "rwx", "u+x"])
    expect(modeProblem(mode)).toBe(
      `must be three octal digits, like "644" or "0755", found ${JSON.stringify(mode)}`,
    );
});

test("sources are relative to the declaration's file; folders first, so that a single file wins", () => {
  const render = {
    file: [
      { dest: "./CLAUDE.md", from: "me.md", mode: "0600" },
      { dest: "b", from: "../shared/b", mode: null },
      { dest: "c", from: "~/c", mode: null },
    ],
    dir: [{ dest: ".", from: "all" }],
  };
  expect(planSources(render, "/n/catalog/box/a", "/h")).toEqual({
    sources: [
      { kind: "dir", source: "/n/catalog/box/a/all", dest: "", mode: null },
      { kind: "file", source: "/n/catalog/box/a/me.md", dest: "CLAUDE.md", mode: 0o600 },
      { kind: "file", source: "/n/catalog/box/shared/b", dest: "b", mode: null },
      { kind: "file", source: "/h/c", dest: "c", mode: null },
    ],
    problems: [],
  });
});

test("a declaration that was kept before there were rules leads nowhere else either", () => {
  const render = { file: [{ dest: "../x", from: "x", mode: "huge" }], dir: [{ dest: "/etc", from: "x" }] };
  expect(planSources(render, "/b", "/h")).toEqual({
    sources: [],
    problems: [`render.dir: dest ${outside("/etc")}`, `render.file: dest ${outside("../x")}`],
  });
});

test("written is what differs in bytes or bits, or is not there", () => {
  const wanted = { content: Buffer.from("a"), mode: 0o644 };
  expect(isToWrite(wanted, { kind: "nothing" })).toBe(true);
  expect(isToWrite(wanted, { kind: "file", content: Buffer.from("a"), mode: 0o644 })).toBe(false);
  expect(isToWrite(wanted, { kind: "file", content: Buffer.from("b"), mode: 0o644 })).toBe(true);
  expect(isToWrite(wanted, { kind: "file", content: Buffer.from("a"), mode: 0o755 })).toBe(true);
});

describe("git's exclude file", () => {
  const title = "# Rendered by convoy";

  test("gets the lines that are missing, at its end, and keeps every byte", () => {
    const table: [before: string | null, paths: string[], after: string | null][] = [
      [null, [], null],
      [null, ["a"], `${title}\n/a\n`],
      ["", ["a", "a", "b/c"], `${title}\n/a\n/b/c\n`],
      ["# mine\n*.o", ["a"], `# mine\n*.o\n${title}\n/a\n`],
      ["x\r\n/a\r\n", ["a"], null],
      [`${title}\n/a\ny\n`, ["a", "b"], `${title}\n/a\ny\n/b\n`],
      ["/a\n", ["a"], null],
    ];
    for (const [before, paths, after] of table) expect(mergeExclude(before, paths)).toBe(after);
  });

  test("names each path alone: what is special in a pattern is escaped", () => {
    expect(mergeExclude("", ["a[1]*?\\", "! b ", "#c"])).toBe(
      `${title}\n/a\\[1\\]\\*\\?\\\\\n/! b\\ \n/#c\n`,
    );
  });

  test("a second time there is nothing to add", () => {
    const path = fc.stringMatching(/^[a-z[\]*? !#\\.]{1,8}$/);
    fc.assert(
      fc.property(fc.option(fc.string()), fc.array(path), (text, paths) => {
        const merged = mergeExclude(text, paths);
        expect(mergeExclude(merged ?? text, paths)).toBe(null);
      }),
    );
  });
});

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { cleanUp, freshFolder } from "../../test/fakes/network.ts";
import type { Declaration } from "../declaration.ts";
import { renderWorkspace } from "./render.ts";

let root: string;
beforeEach(() => {
  root = freshFolder();
  mkdirSync(join(root, "base"));
  mkdirSync(join(root, "ws"));
});
afterEach(cleanUp);

const at = (path: string) => join(root, path);
function put(path: string, text: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
}
const inodeOf = (path: string) => lstatSync(at(path)).ino;
const modeOf = (path: string) => lstatSync(at(path)).mode & 0o777;
const textOf = (path: string) => readFileSync(at(path), "utf8");

type Render = Declaration["render"];
const file = (dest: string, from = "f", mode: string | null = null) => ({ dest, from, mode });
const files = (...file: Render["file"]): Render => ({ file, dir: [] });
const dir = (dest: string, from = "d"): Render => ({ file: [], dir: [{ dest, from }] });
const render = (what: Render, workspace = "ws") =>
  renderWorkspace({ render: what, base: at("base"), home: at("home"), workspace: at(workspace) });

function git(folder: string, ...words: string[]): string {
  const ran = Bun.spawnSync(["git", "-C", at(folder), ...words], {
    env: {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: root,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b",
    },
  });
  if (ran.exitCode !== 0) throw new Error(`git ${words.join(" ")}: ${ran.stderr}`);
  return ran.stdout.toString();
}
const status = (folder: string) => git(folder, "status", "--porcelain", "--untracked-files=all");

describe("what is rendered", () => {
  test("is written once, byte for byte, with the declared bits or the source's own", () => {
    const bytes = Buffer.from([0, 0xff, 0xfe, 10]);
    put("base/f", bytes, 0o755);
    put("base/g", "g");
    const what = files(file("x/y/f"), file("g", "g", "0600"));
    expect(render(what)).toEqual({ written: ["x/y/f", "g"], problems: [] });
    expect([readFileSync(at("ws/x/y/f")), modeOf("ws/x/y/f"), modeOf("ws/g")]).toEqual([bytes, 0o755, 0o600]);
    const before = inodeOf("ws/g");
    expect(render(what)).toEqual({ written: [], problems: [] });
    expect(inodeOf("ws/g")).toBe(before);
    chmodSync(at("ws/g"), 0o644);
    put("ws/x/y/f", "edited", 0o755);
    expect(render(what)).toEqual({ written: ["x/y/f", "g"], problems: [] });
    expect([readFileSync(at("ws/x/y/f")), modeOf("ws/g")]).toEqual([bytes, 0o600]);
    expect(readdirSync(at("ws"), { recursive: true }).sort()).toEqual(["g", "x", "x/y", "x/y/f"]);
  });

  test("is a whole folder: hidden files and links in it too, git's own not; nothing is removed", () => {
    put("base/d/.claude/a.json", "a");
    put("base/d/run", "r", 0o755);
    put("base/d/.git/config", "no");
    put("base/d/two\nlines", "no");
    put("elsewhere/deep/e", "e");
    symlinkSync(at("elsewhere"), at("base/d/link"));
    symlinkSync("nothing", at("base/d/dangling"));
    symlinkSync(at("base/d"), at("elsewhere/loop"));
    put("ws/mine", "m");
    put("ws/.claude/mine", "m");
    put("base/f", "one file wins");
    expect(render({ ...files(file("run")), dir: dir("./").dir })).toEqual({
      written: [".claude/a.json", "link/deep/e", "run"],
      problems: [
        `dangling: ${root}/base/d/dangling is not there`,
        `link/loop: ${root}/base/d/link/loop leads into itself, or is too deep`,
        `${root}/base/d holds a name with a control character: "two\\nlines"`,
      ],
    });
    expect([textOf("ws/run"), textOf("ws/link/deep/e")]).toEqual(["one file wins", "e"]);
    expect([textOf("ws/mine"), textOf("ws/.claude/mine")]).toEqual(["m", "m"]);
    expect(existsSync(at("ws/.git"))).toBe(false);
  });

  test("is what can be: each source that is missing or of another kind is named, the others are there", () => {
    put("base/f", "f");
    put("base/d/x", "x");
    Bun.spawnSync(["mkfifo", at("base/pipe")]);
    const what: Render = {
      file: [file("a"), file("b", "gone"), file("c", "d"), file("p", "pipe")],
      dir: [...dir("d", "f").dir, ...dir("e", "none").dir],
    };
    expect(render(what)).toEqual({
      written: ["a"],
      problems: [
        `d: ${root}/base/f is a file: that is render.file`,
        `e: ${root}/base/none is not there`,
        `b: ${root}/base/gone is not there`,
        `c: ${root}/base/d is a folder: that is render.dir`,
        `p: ${root}/base/pipe is neither file nor folder`,
      ],
    });
  });
});

describe("a workspace", () => {
  test("is not left: by no link, nor into git's folder", () => {
    put("base/f", "f");
    put("outside/there", "kept");
    mkdirSync(at("ws/.git"));
    mkdirSync(at("wsx"));
    const out = (link: string, real: string) =>
      `${root}/ws/${link} is a link that leads out of the workspace to ${root}${real}`;
    const links: [dest: string, link: string, target: string, problem: string][] = [
      ["out/f", "out", at("outside"), out("out", "/outside")],
      ["there", "there", at("outside/there"), out("there", "/outside/there")],
      ["up/f", "up", "..", out("up", "")],
      ["twin/f", "twin", "../wsx", out("twin", "/wsx")],
      ["g/f", "g", ".git", out("g", "/ws/.git")],
      ["dangling/f", "dangling", "nowhere", `${root}/ws/dangling is a link to nothing`],
      ["new", "new", at("outside/new"), `${root}/ws/new is a link to nothing`],
    ];
    for (const [dest, link, target, problem] of links) {
      symlinkSync(target, at(`ws/${link}`));
      expect(render(files(file(dest)))).toEqual({ written: [], problems: [`${dest}: ${problem}`] });
    }
    expect([readdirSync(at("outside")), textOf("outside/there")]).toEqual([["there"], "kept"]);
    expect([readdirSync(at("wsx")), readdirSync(at("ws/.git"))]).toEqual([[], []]);
  });

  test("may be reached by a link, and have links that stay inside: they are kept", () => {
    put("base/f", "new");
    put("ws/real/AGENTS.md", "old");
    symlinkSync("real", at("ws/alias"));
    symlinkSync("real/AGENTS.md", at("ws/CLAUDE.md"));
    symlinkSync(at("ws"), at("way"));
    const what = files(file("alias/n"), file("CLAUDE.md"));
    expect(render(what, "way")).toEqual({ written: ["alias/n", "CLAUDE.md"], problems: [] });
    expect([textOf("ws/real/n"), textOf("ws/real/AGENTS.md")]).toEqual(["new", "new"]);
    expect(lstatSync(at("ws/CLAUDE.md")).isSymbolicLink()).toBe(true);
  });

  test("that has something else in the place, or is not there, is named", () => {
    put("base/f", "f");
    mkdirSync(at("ws/folder"));
    put("ws/file", "kept");
    const table: [dest: string, problem: string][] = [
      ["folder", `${root}/ws/folder is no plain file`],
      ["file/f", `${root}/ws/file is not a folder`],
    ];
    for (const [dest, problem] of table)
      expect(render(files(file(dest)))).toEqual({ written: [], problems: [`${dest}: ${problem}`] });
    rmSync(at("ws"), { recursive: true });
    const { written, problems } = render(files(file("a")));
    expect({ written, problems: [...problems] }).toEqual({
      written: [],
      problems: [expect.stringContaining(`${root}/ws: ENOENT`)],
    });
  });
});

describe("git status", () => {
  test("does not show what is rendered, nor hide anything else; .gitignore is not touched", () => {
    git("ws", "init", "-q");
    put("ws/.gitignore", "*.o\n");
    put("ws/mine", "m");
    put("base/d/a b[1].md", "x");
    put("base/d/sub/z ", "x");
    const before = status("ws");
    const exclude = textOf("ws/.git/info/exclude");
    expect(render(dir("ctx")).written).toEqual(["ctx/a b[1].md", "ctx/sub/z "]);
    expect(status("ws")).toBe(before);
    expect(textOf("ws/.gitignore")).toBe("*.o\n");
    const added = "# Rendered by convoy\n/ctx/a b\\[1\\].md\n/ctx/sub/z\\ \n";
    expect(textOf("ws/.git/info/exclude")).toBe(`${exclude}${added}`);
    put("ws/ctx/own", "o");
    expect(status("ws")).toBe("?? .gitignore\n?? ctx/own\n?? mine\n");
    const inode = inodeOf("ws/.git/info/exclude");
    render(dir("ctx"));
    expect(inodeOf("ws/.git/info/exclude")).toBe(inode);
  });

  test("nor of a linked worktree, a subdirectory, a submodule, or a repository without info/", () => {
    put("base/f", "f");
    git("ws", "init", "-q");
    git("ws", "commit", "-q", "--allow-empty", "-m", "x");
    git("ws", "worktree", "add", "-q", "../tree");
    expect(render(files(file("in/CLAUDE.md")), "tree").problems).toEqual([]);
    expect([status("tree"), status("ws")]).toEqual(["", ""]);
    expect(textOf("ws/.git/info/exclude")).toContain("\n/in/CLAUDE.md\n");
    mkdirSync(at("tree/sub/deep"), { recursive: true });
    expect([render(files(file("y")), "tree/sub/deep").problems, status("tree")]).toEqual([[], ""]);
    expect(textOf("ws/.git/info/exclude")).toContain("\n/sub/deep/y\n");

    rmSync(at("ws/.git/info"), { recursive: true });
    expect([render(files(file("n"))).written, status("ws")]).toEqual([["n"], ""]);
    expect(modeOf("ws/.git/info/exclude")).toBe(0o644);

    git("ws", "-c", "protocol.file.allow=always", "submodule", "add", "-q", at("tree"), "mod");
    git("ws", "commit", "-qm", "mod");
    // Below the workspace there is a repository of its own: its file, its exclude.
    expect(render(files(file("mod/f"))).problems).toEqual([]);
    expect([status("ws"), status("ws/mod")]).toEqual(["", ""]);
  });

  test("a folder in no repository, and a .git that is none, get no file of git's", () => {
    put("base/f", "f");
    mkdirSync(at("ws/.git"));
    expect(render(files(file("a")))).toEqual({ written: ["a"], problems: [] });
    put("tree/.git", "gitdir: ../outside\n");
    mkdirSync(at("outside"));
    expect(render(files(file("a")), "tree")).toEqual({ written: ["a"], problems: [] });
    expect([readdirSync(at("ws/.git")), readdirSync(at("outside"))]).toEqual([[], []]);
  });

  test("a problem with it is said, and the files are there all the same", () => {
    put("base/f", "f");
    git("ws", "init", "-q");
    rmSync(at("ws/.git/info"), { recursive: true });
    put("ws/.git/info", "a file");
    const { written, problems } = render(files(file("a")));
    expect({ written, problems: [...problems] }).toEqual({
      written: ["a"],
      problems: [
        expect.stringContaining(
          `${root}/ws/.git/info/exclude: rendered files are not kept out of git status: ENOTDIR`,
        ),
      ],
    });
  });
});

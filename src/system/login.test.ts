import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { parseUserEntry, readLogin, type UserEntry } from "./login.ts";

test.each<[string, UserEntry | null]>([
  ["ann:x:7:7:Ann,,,:/home/ann:/bin/zsh", { user: "ann", shell: "/bin/zsh" }],
  ["root:x:0:0::/root:/bin/sh\nann:x:7:7::/home/ann:/bin/fish\n", { user: "ann", shell: "/bin/fish" }],
  // As `id -P` has it on Darwin.
  ["ann:********:7:20::0:0:Ann:/Users/ann:/bin/zsh\n", { user: "ann", shell: "/bin/zsh" }],
  ["ann:x:7:7::/home/ann:", { user: "ann", shell: null }],
  ["ann:x:77:7::/home/ann:/bin/sh", null],
  [":x:7:7::/home/ann:/bin/sh", null],
  ["ann:x:7", null],
  ["", null],
])("parseUserEntry %j", (text, entry) => {
  expect(parseUserEntry(text, 7)).toEqual(entry);
});

test("readLogin asks the user database for what is not inherited, and for nothing else", () => {
  const name = spawnSync("id", ["-un"], { encoding: "utf8" }).stdout.trim();
  const bare = readLogin("/h", {});
  expect({ ...bare, shell: null }).toEqual({
    home: "/h",
    user: name,
    shell: null,
    path: "/usr/local/bin:/usr/bin:/bin",
    lang: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
  });
  expect(bare.shell).toMatch(/^\//);
  expect(readLogin("/h", { USER: "u", SHELL: "/s" })).toMatchObject({ user: null, shell: null });
});

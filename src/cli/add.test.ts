import { expect, test } from "bun:test";
import { workspaceFrom } from "./add.ts";

test("--dir starts at the current folder; a home that is named stays for the machine that reads it", () => {
  const typed = [".", "x", "../x/", "/abs/./x", "~", "~/x", "$HOME/x", "$HOMER/x", "~user", "./~"];
  expect(typed.map((dir) => workspaceFrom(dir, "/cwd/in"))).toEqual([
    "/cwd/in",
    "/cwd/in/x",
    "/cwd/x",
    "/abs/x",
    "~",
    "~/x",
    "$HOME/x",
    "/cwd/in/$HOMER/x",
    "/cwd/in/~user",
    "/cwd/in/~",
  ]);
});

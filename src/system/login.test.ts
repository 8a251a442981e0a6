import { expect, test } from "bun:test";
import process from "node:process";
import { parsePasswd, readLogin } from "./login.ts";

const PASSWD =
  "root:x:0:0:root:/root:/bin/bash\n# a remark\nann:x:1000:1000:Ann,,,:/home/ann:/usr/bin/fish\nbob:x:1001:1001::/:\n";

test.each([
  [0, { name: "root", shell: "/bin/bash" }],
  [1000, { name: "ann", shell: "/usr/bin/fish" }],
  [1001, { name: "bob", shell: "/bin/sh" }],
  [100, null],
  [-1, null],
])("the entry of user %d", (uid, expected) => {
  expect(parsePasswd(PASSWD, uid)).toEqual(expected);
});

test("the environment has no say in it", () => {
  const { USER, SHELL } = process.env;
  const before = readLogin("/h");
  process.env.USER = "someone";
  delete process.env.SHELL;
  try {
    expect(readLogin("/h")).toEqual(before);
    expect([before.user, before.shell]).not.toContain("unknown");
  } finally {
    process.env.USER = USER ?? "";
    if (USER === undefined) delete process.env.USER;
    if (SHELL !== undefined) process.env.SHELL = SHELL;
  }
});

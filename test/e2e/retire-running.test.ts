import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { DEADLINE_MS, isAlive, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

test("a running supervisor ends what is retired, and starts it when it no longer is", async () => {
  const file = net.declare("a");
  const { pid: supervisor } = await net.up();
  const pid = await net.running("a");
  expect(await net.convoy(["retire", "a"])).toEqual({
    code: 0,
    stdout: `${file}\n`,
    stderr: `a is retired.\nThe supervisor (pid ${supervisor}) ends it now.\n`,
  });
  await until("a to end", () => !isAlive(pid));
  expect((await net.convoy(["unretire", "a"])).stderr).toBe(
    `a is no longer retired.\nThe supervisor (pid ${supervisor}) starts it now, unless it is held.\n`,
  );
  await net.running("a", pid);
  const added = await net.convoy(["add", "chief-of-staff", "--identity", "b", "--command", "exec agent b"]);
  expect(added.stderr).toBe(
    `The supervisor (pid ${supervisor}) starts it now; to look:\n  convoy ls --network ${net.root}\n`,
  );
  await net.running("b");
});

test("an agent whose file broke, was emptied or is gone is not retired; validate says why", async () => {
  const file = net.declare("a");
  await net.once();
  const text = readFileSync(file, "utf8");
  const path = "box/a/agent.toml";
  const counts = `${path} has an error, so that the last good declaration of a counts in its place: mend it first`;
  const next = `  next: convoy validate --network ${net.root}`;
  const validate = async () =>
    (await net.convoy(["validate"])).stdout.split("\n").filter((line) => line !== "");

  writeFileSync(file, `${text}model = `);
  const refused = { code: 1, stdout: "", stderr: `convoy: cannot retire a: ${counts}\n${next}\n` };
  expect(await net.convoy(["retire", "a"])).toEqual(refused);
  expect(readFileSync(file, "utf8")).toBe(`${text}model = `);

  writeFileSync(file, "");
  expect(await net.convoy(["retire", "box.a"])).toEqual({
    ...refused,
    stderr: refused.stderr.replace("retire a", "retire box.a"),
  });
  expect(await validate()).toEqual([
    `${path}:1: error: declares nothing any more, neither identity nor role: its last good declaration (a) stays in force; write it back, or end the agent with \`convoy down --agent a\``,
  ]);

  writeFileSync(file, text.replace('host = "box"\n', ""));
  expect(await validate()).toEqual([
    `${path}:1: error: has lost "host", which its last good version had: write host = "box" back; its last good declaration (a) stays in force until then`,
  ]);

  net.declare("a", { path: "moved.toml" });
  writeFileSync(file, "");
  expect(await validate()).toEqual([]);
  expect((await net.convoy(["retire", "a"])).code).toBe(0);
});

test("an agent whose file is gone is ended by down", async () => {
  const file = net.declare("a");
  await net.once();
  await Bun.file(file).delete();
  expect(await net.convoy(["retire", "a"])).toEqual({
    code: 1,
    stdout: "",
    stderr: `convoy: cannot retire a: no file declares a any more (box/a/agent.toml did)
  next: convoy down --agent a --network ${net.root}
`,
  });
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHome, type Home, namedNetwork } from "./binary.ts";
import { snapshot } from "./kit.ts";

let home: Home;
let root: string;
beforeEach(async () => {
  home = createHome();
  root = namedNetwork(home);
  await home.convoy(["init"]);
});
afterEach(() => home.remove());

const run = (...words: string[]) => home.convoy(words, { env: { CONVOY_HOST: "box" } });
const inCatalog = (path: string) => join(root, "catalog", path);

function put(path: string, text: string): string {
  const file = inCatalog(path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const TEXTS = {
  toml: {
    text: '# hand-made\nidentity = "a"\nrole="worker" # why\n\n[env]\nA = "1"\n',
    set: "retired = true",
  },
  kdl: { text: '// hand-made\nidentity "a"\nrole "worker" // why\nenv { A "1"; }\n', set: "retired #true" },
  json: { text: '{ "role": "worker",\n\t"identity": "a" }\n', set: '"retired": true' },
} as const;

test("one member is edited in place, in each format, and back", async () => {
  for (const [format, { text, set }] of Object.entries(TEXTS)) {
    const file = put(`box/a/agent.${format}`, text);
    expect(await run("retire", "a")).toEqual({
      code: 0,
      stdout: `${file}\n`,
      stderr: "a is retired.\nNo supervisor runs; to end what runs of it: convoy up --once\n",
    });
    const retired = readFileSync(file, "utf8");
    expect(retired).toContain(set);
    expect(await run("retire", "box.a")).toEqual({
      code: 0,
      stdout: `${file}\n`,
      stderr: "a is retired already: nothing to change.\n",
    });
    expect(readFileSync(file, "utf8")).toBe(retired);
    expect(await run("unretire", "box.a.ding")).toEqual({
      code: 0,
      stdout: `${file}\n`,
      stderr: "a is no longer retired.\nNo supervisor runs; to start it: convoy up\n",
    });
    expect(readFileSync(file, "utf8")).toBe(retired.replace("true", "false"));
    writeFileSync(file, "");
  }
});

test("--json, and an agent of another machine", async () => {
  const file = put("shed/a/agent.toml", TEXTS.toml.text);
  const { code, stdout, stderr } = await run("retire", "shed.a", "--json");
  const document = { network: root, identity: "a", busId: "shed.a", path: "shed/a/agent.toml", file };
  expect([code, JSON.parse(stdout), stderr]).toEqual([0, { ...document, retired: true, changed: true }, ""]);
  expect(JSON.parse((await run("retire", "a", "--json")).stdout)).toMatchObject({ changed: false });
  expect((await run("unretire", "a")).stderr).toBe(
    "a is no longer retired.\nA supervisor on shed starts it once the file has reached that machine.\n",
  );
});

test("what is in conflict or broken is not edited, and the files are named", async () => {
  put("x.toml", 'identity = "a"\nrole = "worker"\n');
  put("y.kdl", 'identity "A"\nrole "worker"\n');
  put("z.json", '{"identity": "b", "role": "wrker"}\n');
  const before = snapshot(root);
  expect(await run("retire", "a")).toEqual({
    code: 1,
    stdout: "",
    stderr: `convoy: cannot retire a: identity "a" is declared in x.toml and y.kdl: keep one of them; neither is acted on
  next: convoy validate
`,
  });
  expect(await run("unretire", "b")).toEqual({
    code: 1,
    stdout: "",
    stderr: "convoy: cannot unretire b: z.json has an error: mend it first\n  next: convoy validate\n",
  });
  expect(snapshot(root)).toEqual(before);
});

test("an unknown agent, with the nearest name; no name at all", async () => {
  put("box/fabric/agent.toml", 'identity = "fabric"\nrole = "worker"\n');
  expect(await run("retire", "fabrik")).toEqual({
    code: 3,
    stdout: "",
    stderr: `convoy: no agent "fabrik" is declared in ${root}/catalog; did you mean fabric?\n  next: convoy ls\n`,
  });
  expect(await run("retire")).toEqual({
    code: 2,
    stdout: "",
    stderr: "convoy: retire: <id> is missing\n  next: convoy retire --help\n",
  });
  expect((await run("unretire", "a", "--network", "none")).code).toBe(3);
});

/** HST-01, HST-02, HST-03: this machine's name, however it and the declarations spell it. */
import { afterEach, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { missingUnless, skippable } from "../support/skippable.ts";
import { Field, isAlive, isRoot, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
let networks = 0;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

/** Runs a command on a machine of this name: a name space of its own, `hostname` in it, then the command. */
const on = (machine: string): [string, ...string[]] => [
  "unshare",
  ...(isRoot() ? [] : ["-Ur"]),
  "--uts",
  "sh",
  "-c",
  'printf %s "$0" >/proc/sys/kernel/hostname && exec "$@"',
  machine,
];
const UNNAMED = { CONVOY_HOST: undefined };
const nameless = missingUnless([...on("box"), "true"], "this machine does not allow another host name");

/** What a machine of this name makes of declarations for these hosts, in a new network. */
async function up(
  machine: string,
  hosts: readonly string[],
  env: Record<string, string | undefined> = UNNAMED,
) {
  networks += 1;
  const network = join(field.root, `n${networks}`);
  field.makeNetwork(network);
  for (const [i, host] of hosts.entries())
    field.declare(`a${i}`, "", { host, network, path: `fleet/a${i}.toml` });
  const ran = await field.once({ network, through: on(machine), env });
  const launched = ran.events
    .filter(({ type }) => type === "launch")
    .map(({ identity }) => String(identity))
    .sort();
  return { ...ran, launched, network };
}

function named(what: string, body: () => Promise<void>): void {
  skippable(what, nameless, body, TEST_MS);
}

named("HST-01: capital letters, in the machine's name or in the declaration", async () => {
  const hosts = ["Silber", "SILBER", "silber"];
  for (const machine of ["Silber", "silber"])
    expect(await up(machine, hosts)).toMatchObject({ code: 0, launched: ["a0", "a1", "a2"] });
});

named("HST-01: nothing for this machine is said, with the hosts there are", async () => {
  const ran = await up("silber", ["gold", "Kupfer"]);
  expect(ran.launched).toEqual([]);
  const { stdout, stderr } = await field.convoy(["up", ran.network, "--once"], {
    through: on("silber"),
    env: UNNAMED,
  });
  const said = `${stdout}${stderr}`;
  expect(said).toMatch(/\b0 of 2\b/);
  expect(said).toContain("silber");
  expect(said).toContain("gold");
  expect(said).toContain("kupfer");
});

named("HST-02: the first label counts, of the machine and of the declaration", async () => {
  for (const machine of ["box", "box.local", "box.lan", "box.example.com", "box."])
    expect([machine, await up(machine, ["box", "box.local", "box.example.com"])]).toMatchObject([
      machine,
      { code: 0, launched: ["a0", "a1", "a2"] },
    ]);
});

named("HST-02: a name can be pinned where two machines share the short one", async () => {
  const pinned = { CONVOY_HOST: "box-two" };
  expect((await up("box.example.com", ["box", "box-two"], pinned)).launched).toEqual(["a1"]);
});

named("HST-03: the name of the first `up` stays in force when the machine is given another", async () => {
  const [first, second] = ["3f2a9c01b7de", "99aabbccddee"];
  field.declare("free", "", { host: "", path: "fleet/free.toml" });
  field.declare("bound", "", { host: first, path: "fleet/bound.toml" });
  expect(await field.once({ through: on(first), env: UNNAMED })).toMatchObject({ code: 0 });
  const before = await field.untilLaunched(2);
  expect(before.map(({ busId }) => busId).sort()).toEqual([`${first}.bound`, `${first}.free`]);
  for (const { pid, hostPid } of before) for (const one of [hostPid, pid]) kill(one, "SIGKILL");
  await until("all to be gone", () => before.every(({ pid, hostPid }) => !isAlive(pid) && !isAlive(hostPid)));

  const ran = await field.once({ through: on(second), env: UNNAMED });
  expect(ran).toMatchObject({ code: 0 });
  const warnings = ran.events.filter(({ type }) => type === "warning").map(({ message }) => String(message));
  expect(warnings.filter((text) => text.includes(first) && text.includes(second))).toHaveLength(1);
  const after = await field.untilLaunched(4);
  expect(
    after
      .slice(2)
      .map(({ busId }) => busId)
      .sort(),
  ).toEqual([`${first}.bound`, `${first}.free`]);

  const fresh = await up(second, ["", first]);
  expect(fresh.launched).toEqual(["a0"]);
  const { stdout } = await field.convoy(["ls", fresh.network], { through: on(second), env: UNNAMED });
  expect(stdout).toContain(first);
});

/** `convoy doctor survive`: what it shows, and that it leaves nothing. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { skippable } from "../support/skippable.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, Net } from "./kit.ts";
import { here, left, type Report, WAYS } from "./survive-kit.ts";
import { PersonTerminal } from "./terminal.ts";
import { UserManager } from "./user-manager.ts";

setDefaultTimeout(10 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

/** Runs it; `left over` are the processes of the network's home but the manager's own. */
async function survive(variables: Record<string, string>, isManager: (pid: number) => boolean) {
  const { code, stdout } = await net.convoy(["doctor", "survive", "--json"], { ...here(net), ...variables });
  const { checks }: Report = JSON.parse(stdout);
  expect(checks.map(({ name }) => name)).toEqual(WAYS);
  expect([code, left(net), net.processes().filter((pid) => !isManager(pid))]).toEqual([0, [], []]);
  expect([existsSync(join(net.home, ".claude.json")), net.events()]).toEqual([false, []]);
  return checks;
}

/** The ways that passed, by one and the same message: the pids of the agents. */
function lived(checks: Report["checks"]): string[] {
  const found = checks.filter(({ message }) => message.startsWith("the agents live on: pids "));
  expect(new Set(found.map(({ answer, message }) => `${answer} ${message}`)).size).toBe(1);
  return found.map(({ name }) => name);
}

const isService = (name: string) => name.includes("service");
const isWay = (name: string) => name !== "clean-up";

test("survive: the same processes after every way, and nothing left", async () => {
  const checks = await survive({ XDG_RUNTIME_DIR: "/none" }, () => false);
  expect(lived(checks)).toEqual(WAYS.filter((name) => isWay(name) && !isService(name)));
  const untold = checks.filter(({ answer }) => answer === "unknown");
  expect(untold.map(({ name }) => name)).toEqual(WAYS.filter(isService));
});

skippable("survive, with a service under a user manager, too", await UserManager.missing(), async () => {
  const manager = await UserManager.start(net);
  try {
    const checks = await survive({ ...manager.variables }, (pid) => manager.is(pid));
    expect(lived(checks)).toEqual(WAYS.filter(isWay));
    const units = readdirSync(join(net.home, ".config/systemd/user"));
    expect(units.filter((name) => name.endsWith(".service"))).toEqual([]);
  } finally {
    await manager.remove();
  }
});

test("survive, broken off by Ctrl-C, cleans up and fails; on a terminal it shows how far it is", async () => {
  const terminal = new PersonTerminal({
    command: [BINARY, "doctor", "survive"],
    env: { ...net.env(), ...here(net) },
    cwd: net.home,
  });
  await terminal.shows("3 of 11: HUP");
  terminal.type("\x03");
  expect(await terminal.ended()).toBe(1);
  expect(terminal.text).toContain("stopped by SIGINT");
  expect([left(net), net.processes()]).toEqual([[], []]);
});

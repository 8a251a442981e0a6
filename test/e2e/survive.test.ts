/** `convoy doctor survive`: what it shows, and that it leaves nothing. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
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

test("survive: the same processes after every way, a service's among them, and nothing left", async () => {
  const manager = await UserManager.start(net);
  try {
    const variables = manager?.variables ?? { XDG_RUNTIME_DIR: "/none" };
    const own = () => net.processes().filter((pid) => manager?.is(pid) !== true);
    const { code, stdout } = await net.convoy(["doctor", "survive", "--json"], {
      ...here(net),
      ...variables,
    });
    const report: Report = JSON.parse(stdout);
    expect(report.checks.map(({ name }) => name)).toEqual(WAYS);
    const service = manager === null ? "unknown" : "pass";
    expect(report.checks.map(({ name, answer, message }) => [name, answer, message.split(":")[0]])).toEqual(
      WAYS.map((name) =>
        name === "clean-up"
          ? [name, "pass", expect.stringContaining("is gone")]
          : name.includes("service")
            ? [name, service, expect.any(String)]
            : [name, "pass", "the agents live on"],
      ) as never,
    );
    const lived = report.checks.filter(({ message }) => message.startsWith("the agents live on"));
    expect(new Set(lived.map(({ message }) => message)).size).toBe(1);
    expect([code, left(net), own()]).toEqual([0, [], []]);
    const units = join(net.home, ".config/systemd/user");
    const names = existsSync(units) ? readdirSync(units) : [];
    expect(names.filter((name) => name.endsWith(".service"))).toEqual([]);
    expect([existsSync(join(net.home, ".claude.json")), net.events()]).toEqual([false, []]);
  } finally {
    await manager?.remove();
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

/** Kills `convoy service` right after each of its effects: the same command finishes the work, and no agent notices. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { KILLED } from "./crash-kit.ts";
import { fakeSystemctl, toldSystemctl } from "./fake-systemctl.ts";
import { DEADLINE_MS, Net } from "./kit.ts";

setDefaultTimeout(10 * DEADLINE_MS);

const INSTALL = ["service", "install", "--no-linger"];
const UNINSTALL = ["service", "uninstall"];

test.each([
  [INSTALL, ["folder-create", "temporary-write", "unit-write", ...changes(3)]],
  [UNINSTALL, ["unit-remove", ...changes(2)]],
])("%j", async (words, effects) => {
  const net = new Net();
  try {
    fakeSystemctl(net);
    net.declare("a");
    await net.up();
    const agent = await net.running("a");
    if (words === UNINSTALL) expect(await net.convoy(INSTALL)).toMatchObject({ code: 0 });
    const installed = words === INSTALL;
    for (const effect of effects) {
      const killed = await net.convoy(words, { CONVOY_TEST_KILL_AFTER: effect });
      expect([effect, killed.code]).toEqual([effect, KILLED]);
      const done = await net.convoy(words);
      const folder = join(net.home, ".config/systemd/user");
      const units = readdirSync(folder).filter((name) => name.endsWith(".service"));
      expect([effect, done.code, units.length, net.pid("a")]).toEqual([effect, 0, installed ? 1 : 0, agent]);
      for (const name of units)
        expect(readFileSync(join(folder, name), "utf8")).toBe(
          (await net.convoy(["service", "print"])).stdout,
        );
      const state = ["loaded", "enabled", "active"].map((name) => existsSync(join(net.home, "sd", name)));
      expect([effect, ...state]).toEqual([effect, installed, installed, installed]);
      await net.convoy(installed ? UNINSTALL : INSTALL);
    }
    expect(toldSystemctl(net).length).toBeGreaterThan(effects.length);
  } finally {
    await net.remove();
  }
});

/** One after each word to the manager. */
function changes(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `service-change:${index + 1}`);
}

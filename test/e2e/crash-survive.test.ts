/** Kills `convoy doctor survive` right after some of its effects: the next one removes what is left, agents too. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { KILLED } from "./crash-kit.ts";
import { DEADLINE_MS, Net } from "./kit.ts";
import { here, left, type Report, WAYS } from "./survive-kit.ts";

setDefaultTimeout(10 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const KILLS = ["files-remove", "folder-create", "catalog-write", "supervisor-spawn:4", "supervisor-signal:3"];

test("survive, killed, is cleaned up by the next one", async () => {
  // Somebody else's, as far as can be told: open to others.
  mkdirSync(join(net.home, "cv-survive-other"), { mode: 0o755 });
  for (const kill of KILLS) {
    const killed = await net.convoy(["doctor", "survive"], { ...here(net), CONVOY_TEST_KILL_AFTER: kill });
    expect([kill, killed.code]).toEqual([kill, KILLED]);
    // What has no owner's name yet is left alone for a minute.
    const then = Date.now() / 1_000 - 120;
    for (const name of left(net))
      if (name !== "cv-survive-other") utimesSync(join(net.home, name), then, then);
  }
  const { code, stdout } = await net.convoy(["doctor", "survive", "--json"], here(net));
  const { checks }: Report = JSON.parse(stdout);
  expect([code, left(net), net.processes()]).toEqual([0, ["cv-survive-other"], []]);
  expect(checks.map(({ name }) => name)).toEqual(["clean-up of a former run", ...WAYS]);
});

/** pty's own `list` on sessions that convoy hosts. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { DEADLINE_MS, HOST } from "../e2e/kit.ts";
import { PtyNet } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: PtyNet;
afterEach(async () => await net.remove());

test("a session of ours is running, with the pid of its host", async () => {
  net = new PtyNet();
  net.declare("a");
  await net.once();
  const { code, stdout } = await net.runPty(["list", "--json"]);
  const [session, ...others] = JSON.parse(stdout);
  expect({ code, others, name: session.name, status: session.status, pid: session.pid }).toEqual({
    code: 0,
    others: [],
    name: `${HOST}.a`,
    status: "running",
    pid: net.ledger("a")?.host?.pid,
  });
});

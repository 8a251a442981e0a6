/** `up --detach` comes back when the first pass is made, and says what came of it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

async function detach() {
  const { code, stdout, stderr } = await net.convoy(["up", "--detach"]);
  return { code, pid: Number(stdout), said: stderr.split("\n") };
}

const supervising = () => `Supervising ${net.root} in the background, log in ${net.root}/pty/.convoy/up.log.`;

test("what it started runs when it returns; who waits, and who is another machine's, is counted apart", async () => {
  for (const name of ["a", "b", "c"]) net.declare(name);
  net.declare("waits", { lines: ['workspace = "/none/such"'] });
  net.declare("there", { host: "gold" });
  const { code, pid, said } = await detach();
  expect([code, said]).toEqual([
    0,
    [supervising(), "4 agents: 3 running, 1 waiting.", `  convoy ls --network ${net.root}`, ""],
  ]);
  for (const name of ["a", "b", "c"]) expect(net.pid(name)).toBeNumber();
  kill(pid, "SIGTERM");
});

test("agents that a supervisor before it had held are waited for too; with none there it says so", async () => {
  net.declare("a");
  const first = await detach();
  await net.convoy(["down"]);
  kill(first.pid, "SIGTERM");
  await until("the first to leave", () => net.said("detach").length === 1);
  const second = await detach();
  expect(second.said[1]).toBe("1 agent: 1 running.");
  expect(net.pid("a")).toBeNumber();
  await net.convoy(["down"]);
  kill(second.pid, "SIGTERM");
  await until("the second to leave", () => net.said("detach").length === 2);
  rmSync(net.root, { recursive: true });
  await net.convoy(["init"]);
  const third = await detach();
  expect(third).toMatchObject({ code: 0, said: [supervising(), "No agents here.", expect.any(String), ""] });
  kill(third.pid, "SIGTERM");
});

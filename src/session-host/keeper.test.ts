import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createHostNetwork, type HostNetwork, until } from "../../test/fakes/host-network.ts";
import { connectSession } from "./client.ts";
import { createDeathWatch } from "./death-watch.ts";
import { holdLifeLine, isLifeLineHeld, makeLifeLine, supervisorLinePath } from "./life-line.ts";

let network: HostNetwork;
beforeEach(() => {
  network = createHostNetwork();
});
afterEach(() => network.close());

/** Whether everything that the host keeps is there, and says what it should. */
async function isWhole(hostPid: number): Promise<boolean> {
  const paths = network.paths("a");
  if (!existsSync(paths.record) || !existsSync(paths.pid) || !existsSync(paths.socket)) return false;
  if (readFileSync(paths.pid, "utf8") !== String(hostPid)) return false;
  const connected = await connectSession(paths.socket);
  if (!connected.ok) return false;
  const answer = await connected.session.status();
  connected.session.close();
  return answer.ok && answer.status.daemon.pid === hostPid;
}

/** What a host of another program leaves that was killed. */
const LEAVE_SOCKET = `Bun.listen({ unix: process.argv[1], socket: { data() {} } }); process.kill(process.pid, "SIGKILL");`;

const LOSSES: [string, () => void][] = [
  ["the socket", () => rmSync(network.paths("a").socket)],
  ["the pid file", () => rmSync(network.paths("a").pid)],
  ["a torn pid file", () => writeFileSync(network.paths("a").pid, "")],
  ["the record", () => rmSync(network.paths("a").record)],
  ["a torn record", () => writeFileSync(network.paths("a").record, '{"comm')],
  [
    "a file in the socket's place",
    () => {
      rmSync(network.paths("a").socket);
      writeFileSync(network.paths("a").socket, "");
    },
  ],
  [
    "a socket in whose place another stands",
    () => {
      // A file system may give the same number to both.
      rmSync(network.paths("a").socket);
      Bun.spawnSync([process.execPath, "-e", LEAVE_SOCKET, network.paths("a").socket]);
    },
  ],
  [
    "everything",
    () => {
      for (const path of [network.paths("a").socket, network.paths("a").pid, network.paths("a").record])
        rmSync(path);
    },
  ],
];

describe("what is lost comes back", () => {
  test.each(LOSSES)("at a nudge: %s", async (_, lose) => {
    const { hostPid, pid } = await network.start("a", "exec sleep 100");
    await until("a whole session", () => isWhole(hostPid));
    const before = network.record("a");
    lose();
    await network.launcher.nudge({ name: "a", ledger: network.ledger("a"), pid: hostPid });
    await until("everything back", () => isWhole(hostPid));
    await until("the record", () => network.record("a").daemonPid === hostPid);
    const { rows: _rows, cols: _cols, ...kept } = before;
    expect(network.record("a")).toMatchObject(kept);
    expect(network.ledger("a").child?.pid).toBe(pid);
  });

  test("by itself within ten seconds", async () => {
    const { hostPid } = await network.start("a", "exec sleep 100");
    await until("a whole session", () => isWhole(hostPid));
    LOSSES.at(-1)![1]();
    await until("everything back", () => isWhole(hostPid), 10_000);
  }, 20_000);

  test("at once when the supervisor, who would have asked for it, goes", async () => {
    await network.launch("seed", "exit 0");
    const line = supervisorLinePath(network.registry);
    expect(makeLifeLine(line)).toBe(true);
    const letGo = holdLifeLine(line);
    expect(isLifeLineHeld(line)).toBe(true);
    const { hostPid } = await network.start("a", "exec sleep 100");
    await until("a whole session", () => isWhole(hostPid));
    LOSSES.at(-1)![1]();
    letGo?.();
    expect(isLifeLineHeld(line)).toBe(false);
    await until("everything back", () => isWhole(hostPid), 4_000);
  });

  test("with the tags that the ledger has by then, and connections stand", async () => {
    const { hostPid } = await network.start("a", "exec sleep 100");
    await until("a whole session", () => isWhole(hostPid));
    const client = await network.connect("a");
    // A connection that the host has not accepted yet goes with the old socket.
    expect(await client.status()).toMatchObject({ ok: true });
    await network.files.changeLedger("a", (ledger) => ({ ...ledger!, tags: { ...ledger!.tags, more: "1" } }));
    LOSSES.at(-1)![1]();
    process.kill(hostPid, "SIGWINCH");
    await until("everything back", () => isWhole(hostPid));
    await until("the record", () => existsSync(network.paths("a").record));
    expect(network.record("a").tags).toEqual({ role: "agent", more: "1" });
    expect(await client.status()).toMatchObject({ ok: true });
  });

  test("a host whose launch has been taken over touches nothing", async () => {
    const { hostPid } = await network.start("a", "read go");
    await until("a whole session", () => isWhole(hostPid));
    const paths = network.paths("a");
    const client = await network.connect("a");
    await network.files.changeLedger("a", (ledger) => ({ ...ledger!, launchId: "another" }));
    writeFileSync(paths.pid, "4194304");
    renameSync(paths.socket, `${paths.socket}.old`);
    writeFileSync(paths.socket, "another's");
    process.kill(hostPid, "SIGWINCH");
    await client.sendData(Buffer.from("go\r"));
    expect(await client.ended).toEqual({ exitCode: 0 });
    await network.untilGone("a");
    expect([readFileSync(paths.pid, "utf8"), readFileSync(paths.socket, "utf8")]).toEqual([
      "4194304",
      "another's",
    ]);
    expect(network.ledger("a").end).toBeNull();
    expect(network.record("a").exitedAt).toBeUndefined();
  });
});

describe("a death is told at once", () => {
  const deaths: [string, (of: { pid: number; hostPid: number }) => void][] = [
    ["the program's", ({ pid }) => process.kill(pid, "SIGKILL")],
    ["the host's", ({ hostPid }) => process.kill(hostPid, "SIGKILL")],
  ];
  for (const line of ["a life line", "a connection"]) {
    test.each(deaths)(`by ${line}: %s`, async (_, kill) => {
      const one = await network.start("a", "exec sleep 100");
      await network.start("b", "exec sleep 100");
      if (line === "a connection") {
        for (const name of ["a", "b"]) rmSync(`${network.registry}/.convoy/sessions/${name}.alive`);
      }
      const watch = createDeathWatch(network.registry, network.files);
      const dead: string[] = [];
      watch.watch(["a", "b"], (name) => dead.push(name));
      watch.watch(["a", "b"], (name) => dead.push(name));
      const connected = async () => {
        const client = await network.connect("b");
        const answer = await client.status();
        client.close();
        const convoy = answer.ok ? (answer.status.convoy as { connections: number }) : null;
        return convoy?.connections === 2;
      };
      if (line === "a connection") await until("the watch", connected);
      kill(one);
      await until("the death to be told", () => dead.length > 0, 2_000);
      await network.untilGone("a");
      watch.close();
      expect(dead).toEqual(["a"]);
    });
  }
});

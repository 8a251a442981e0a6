import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ledgerFixture, recordFixture } from "../../test/fakes/ledgers.ts";
import { cleanUp, freshFolder, freshNetwork, nextLine, start } from "../../test/fakes/network.ts";
import { missingUnless, skippable } from "../../test/support/skippable.ts";
import type { Ledger } from "../ledger.ts";
import type { ProcessIdentity, SessionRecord } from "../session.ts";
import { type NetworkPaths, networkPaths, sessionPaths } from "../system/paths.ts";
import { identityOf, processTable } from "../system/processes.ts";
import { readRegistry, readSession, readUnlisted } from "./read.ts";

const strays: number[] = [];
afterEach(async () => {
  for (const pid of strays.splice(0)) {
    if (identityOf(pid) !== null) process.kill(pid, "SIGKILL");
  }
  await cleanUp();
});

const NAME = "box.a";
const FAKE_HOST = join(import.meta.dir, "../../test/fakes/fake-host.ts");
const GONE: ProcessIdentity = { pid: 4_194_000, start: "1" };

function writeLedger(network: NetworkPaths, members: Partial<Ledger>, name = NAME): void {
  mkdirSync(network.ledgers, { recursive: true });
  const ledger = ledgerFixture(name, { boot: processTable.boot(), ...members });
  writeFileSync(sessionPaths(network.pty, name).ledger, JSON.stringify(ledger));
}

function writeRecord(network: NetworkPaths, members: Partial<SessionRecord> = {}, name = NAME): void {
  writeFileSync(sessionPaths(network.pty, name).record, JSON.stringify(recordFixture(members)));
}

function living(pid: number): ProcessIdentity {
  const identity = identityOf(pid);
  if (identity === null) throw new Error(`process ${pid} is not there`);
  return identity;
}

/** A fake host that is up, with the pid of its child. */
async function startHost(network: NetworkPaths, manner: "answer" | "mute" | "none", child: string[] = []) {
  const args = [process.execPath, FAKE_HOST, "__session-host", network.pty, NAME, manner, ...child];
  const host = start(args);
  const [pid, childPid] = (await nextLine(host)).split(" ").map(Number);
  if (child.length > 0 && childPid !== undefined) strays.push(childPid);
  return { host, pid: pid ?? 0, childPid: childPid ?? 0 };
}

async function killHost(host: { kill(signal: "SIGKILL"): void; exited: Promise<number> }): Promise<void> {
  host.kill("SIGKILL");
  await host.exited;
}

async function summary(network: NetworkPaths) {
  const session = await readSession(network.pty, NAME);
  if (session === null) return "none";
  const special = [
    session.orphaned === true ? "orphaned" : "",
    session.starting === true ? "starting" : "",
    ...(session.missing ?? []).map((file) => `missing ${file}`),
  ];
  return [session.process, session.status, ...special.filter((word) => word !== "")].join(" ");
}

describe("the folder", () => {
  test("missing is empty", async () => {
    expect(await readRegistry(join(freshFolder(), "pty"))).toEqual({ sessions: [], problems: [] });
  });

  test("that cannot be listed is an error, not an empty one", async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, "pty"), "");
    expect(readRegistry(join(folder, "pty"))).rejects.toThrow(`cannot list ${folder}/pty: `);
  });

  test("bad files are named and hide nothing; temporary names are ignored", async () => {
    const network = freshNetwork();
    writeRecord(network, { exitCode: 0, exitedAt: "2026-11-30T10:01:00.000Z" }, "box.good");
    mkdirSync(join(network.pty, "z.json"));
    for (const [file, text] of [
      ["empty.json", ""],
      ["garbage.json", "\u0000\u0001"],
      ["list.json", "[1]"],
      ["foreign.json", '{"name":"p"}'],
      ["not a name.json", "{}"],
      ["x.json.tmp.1.a", "{}"],
      ["y.json.tmp", "{}"],
      ["box.good.events.jsonl", "{}"],
    ] as const) {
      writeFileSync(join(network.pty, file), text);
    }
    const { sessions, problems } = await readRegistry(network.pty);
    expect(sessions.map(({ name, status }) => [name, status])).toEqual([["box.good", "exited"]]);
    expect(problems.toSorted((a, b) => a.file.localeCompare(b.file))).toEqual([
      { file: "empty.json", message: "is empty" },
      { file: "foreign.json", message: "names no command, so it is not a session record" },
      { file: "garbage.json", message: "is not JSON (torn or not ours)" },
      { file: "list.json", message: "holds a list, not an object" },
      { file: "not a name.json", message: "is not named as a session's file; skipped" },
      { file: "z.json", message: "is a directory; skipped" },
    ]);
  });
});

describe("a session of ours", () => {
  test("lives while its processes do, whatever happens to its files, and they are named", async () => {
    const network = freshNetwork();
    const paths = sessionPaths(network.pty, NAME);
    const { pid, childPid } = await startHost(network, "answer", ["sleep", "60"]);
    writeLedger(network, { host: living(pid), child: living(childPid) });
    writeRecord(network);
    expect(await summary(network)).toBe("ours running");
    writeFileSync(paths.pid, "");
    rmSync(paths.socket);
    writeFileSync(paths.record, '{"comm');
    expect(await summary(network)).toBe("ours running missing record missing socket missing pid");
    rmSync(paths.record);
    writeFileSync(paths.pid, String(process.pid));
    expect(await summary(network)).toBe("ours running missing record missing socket missing pid");
    const { problems, sessions } = await readRegistry(network.pty);
    expect([problems, sessions.length, sessions[0]?.agent]).toEqual([[], 1, "box.box.a"]);
  });

  test("a stopped host does not answer and lives", async () => {
    const network = freshNetwork();
    const { pid, childPid } = await startHost(network, "mute", ["sleep", "60"]);
    process.kill(pid, "SIGSTOP");
    writeLedger(network, { host: living(pid), child: living(childPid) });
    writeRecord(network);
    expect(await summary(network)).toBe("ours running");
  });

  test("is orphaned when its host is killed, and dead when its child is too; strangers' pids are nothing", async () => {
    const network = freshNetwork();
    const { host, pid, childPid } = await startHost(network, "answer", ["sleep", "60"]);
    const child = living(childPid);
    writeLedger(network, { host: living(pid), child });
    writeRecord(network);
    await killHost(host);
    expect(await summary(network)).toBe("ours running orphaned");
    process.kill(childPid, "SIGKILL");
    while (identityOf(childPid) !== null) await Bun.sleep(2);
    for (const stranger of [start(["sleep", "60"]).pid, 1, process.pid]) {
      writeFileSync(sessionPaths(network.pty, NAME).pid, String(stranger));
      expect(await summary(network)).toBe("not-ours vanished");
    }
    writeLedger(network, { host: { ...living(process.pid), start: "1" }, child: GONE });
    expect(await summary(network)).toBe("not-ours vanished");
  });

  test("of another boot is gone, though its pids live", async () => {
    const network = freshNetwork();
    writeLedger(network, { boot: "older", host: living(process.pid), child: living(process.pid) });
    expect(await summary(network)).toBe("not-ours vanished");
  });

  test("that another program runs again is seen by its answer, and by its silence", async () => {
    const network = freshNetwork();
    const end = { exitCode: 0, exitedAt: "2026-11-30T10:01:00.000Z", lastLines: [], error: null };
    writeLedger(network, { host: GONE, child: GONE, end });
    writeRecord(network);
    expect(await summary(network)).toBe("not-ours exited");
    const { host, pid } = await startHost(network, "answer");
    expect(await readSession(network.pty, NAME)).toMatchObject({ process: "ours", status: "running", pid });
    await killHost(host);
    expect(await summary(network)).toBe("not-ours exited");
    rmSync(sessionPaths(network.pty, NAME).socket);
    await startHost(network, "mute");
    expect(await summary(network)).toBe("unknown vanished");
  });
});

describe("a launch that was cut short", () => {
  test("is over when nothing of it is found", async () => {
    const network = freshNetwork();
    writeLedger(network, { launchedAt: new Date().toISOString() });
    expect(await summary(network)).toBe("not-ours vanished");
  });

  test("has a host that stands in no ledger: found by its command line, by either spelling of the path", async () => {
    const network = freshNetwork();
    const { pid } = await startHost(network, "none");
    writeLedger(network, { launchedAt: new Date().toISOString() });
    expect(await readSession(network.pty, NAME)).toMatchObject({ process: "ours", starting: true, pid });
    const link = join(freshFolder(), "link");
    symlinkSync(network.root, link);
    expect(await summary(networkPaths(link))).toBe("ours running starting");
  });

  test("has a program that stands in no ledger, found by its environment, after its host was killed", async () => {
    const network = freshNetwork();
    const { host, pid, childPid } = await startHost(network, "none", ["sleep", "60"]);
    const born = living(pid);
    writeLedger(network, { launchedAt: new Date().toISOString(), host: born });
    expect(await summary(network)).toBe("ours running starting");
    await killHost(host);
    expect(await readSession(network.pty, NAME)).toMatchObject({
      process: "ours",
      orphaned: true,
      childPid,
      agent: "box.box.a",
    });
    // What was born before the recorded host is not of its run.
    writeLedger(network, { launchedAt: new Date().toISOString(), host: { ...GONE, start: "99999999999" } });
    expect(await summary(network)).toBe("not-ours vanished");
  });

  test("is still going on while its launcher holds the launch lock", async () => {
    const network = freshNetwork();
    writeLedger(network, { launchedAt: new Date().toISOString() });
    const launcher = start(["sleep", "60"]);
    writeFileSync(sessionPaths(network.pty, NAME).launchLock, String(launcher.pid));
    expect(await summary(network)).toBe("unknown running starting");
    expect(await readSession(network.pty, NAME, { ownLock: true })).toMatchObject({ process: "not-ours" });
  });
});

describe("a ledger that cannot be used", () => {
  test("does not make a living session dead", async () => {
    const network = freshNetwork();
    const paths = sessionPaths(network.pty, NAME);
    const { host, childPid } = await startHost(network, "answer", ["sleep", "60"]);
    writeLedger(network, {});
    writeFileSync(paths.ledger, "{");
    writeRecord(network);
    expect(await summary(network)).toBe("ours running");
    rmSync(paths.socket);
    expect(await summary(network)).toBe("ours running missing socket");
    await killHost(host);
    expect(await summary(network)).toBe("ours running orphaned");
    process.kill(childPid, "SIGKILL");
    while (identityOf(childPid) !== null) await Bun.sleep(2);
    expect(await summary(network)).toBe("not-ours vanished");
    rmSync(paths.pid);
    expect(await summary(network)).toBe("unknown vanished");
    utimesSync(paths.ledger, 1, 1);
    expect(await summary(network)).toBe("not-ours vanished");
    expect((await readRegistry(network.pty)).problems).toEqual([
      { file: ".convoy/sessions/box.a.json", message: "is not JSON (torn or not ours)" },
    ]);
  });
});

describe("a session of pty's own", () => {
  test("runs while its socket answers for it, and its program says whose it is", async () => {
    const network = freshNetwork();
    const { host, pid, childPid } = await startHost(network, "answer", ["sleep", "60"]);
    writeRecord(network);
    expect(await readSession(network.pty, NAME)).toMatchObject({
      process: "ours",
      status: "running",
      pid,
      childPid,
      agent: "env.box.a",
      missing: [],
    });
    await killHost(host);
    expect(await summary(network)).toBe("not-ours vanished");
  });

  test("is unknown when its pid exists and nobody answers: a pid is no identity", async () => {
    const network = freshNetwork();
    writeRecord(network, { daemonPid: process.pid });
    expect(await summary(network)).toBe("unknown vanished");
    writeRecord(network);
    expect(await summary(network)).toBe("unknown vanished");
    writeRecord(network, { daemonPid: GONE.pid });
    expect(await summary(network)).toBe("not-ours vanished");
    const mute = Bun.listen({
      unix: sessionPaths(network.pty, NAME).socket,
      socket: { data: () => undefined },
    });
    expect(await summary(network)).toBe("unknown vanished");
    mute.stop(true);
  });

  test("whose record is torn is still there while it has a socket or a pid file", async () => {
    const network = freshNetwork();
    await startHost(network, "answer");
    writeFileSync(sessionPaths(network.pty, NAME).record, "{");
    expect(await summary(network)).toBe("ours running");
    expect((await readRegistry(network.pty)).problems).toHaveLength(1);
  });

  test.each<[string, Partial<SessionRecord>, string | null]>([
    ["its tag", { tags: { "convoy.agent": "tag.a" }, env: { ST_AGENT: "env.a" } }, "tag.a"],
    ["its environment", { env: { ST_AGENT: "env.a" }, extraEnv: { ST_AGENT: "extra.a" } }, "env.a"],
    ["its added environment", { extraEnv: { ST_AGENT: "extra.a" }, tags: { ptyfile: "FILE" } }, "extra.a"],
    ["its manifest", { tags: { ptyfile: "FILE", "ptyfile.session": "one" } }, "file.a"],
    ["a manifest without it", { tags: { ptyfile: "FILE", "ptyfile.session": "two" } }, null],
    ["a manifest that is gone", { tags: { ptyfile: "/none", "ptyfile.session": "one" } }, null],
    ["nothing", {}, null],
  ])("belongs to whom %s names", async (_, members, agent) => {
    const network = freshNetwork();
    const manifest = join(network.root, "pty.toml");
    writeFileSync(manifest, '[sessions.one]\ncommand = "x"\n[sessions.one.env]\nST_AGENT = "file.a"\n');
    const tags = members.tags?.ptyfile === "FILE" ? { ...members.tags, ptyfile: manifest } : members.tags;
    writeRecord(network, { ...members, ...(tags ? { tags } : {}), exitCode: 0 });
    expect((await readSession(network.pty, NAME))?.agent).toBe(agent);
  });
});

describe("what runs though no file tells of it", () => {
  /** A host of pty's program, that far into its start: it has made no file. */
  async function startPtyHost(network: NetworkPaths): Promise<number> {
    const config = { PTY_SESSION_DIR: network.pty, PTY_SERVER_CONFIG: JSON.stringify({ name: NAME }) };
    const host = start(["sh", "-c", "echo up; read line"], { env: { PATH: "/usr/bin:/bin", ...config } });
    await nextLine(host);
    return host.pid;
  }

  test("is found by name alone, with its host or without", async () => {
    const network = freshNetwork();
    const { host, pid, childPid } = await startHost(network, "none", ["sleep", "60"]);
    const names = [NAME, "box.other"];
    expect(await readUnlisted(network.pty, names)).toMatchObject([
      { name: NAME, process: "ours", pid, childPid, outside: false, missing: ["record", "socket", "pid"] },
    ]);
    expect((await readRegistry(network.pty)).sessions).toEqual([]);
    await killHost(host);
    expect(await readUnlisted(network.pty, names)).toMatchObject([
      { name: NAME, process: "unknown", pid: null, childPid },
    ]);
    writeRecord(network);
    expect(await readUnlisted(network.pty, names)).toEqual([]);
  });

  test("is pty's, from the start of its host on, after an end that the ledger knows too", async () => {
    const network = freshNetwork();
    const other = freshNetwork();
    await startPtyHost(other);
    expect(await readUnlisted(network.pty, [NAME])).toEqual([]);
    const pid = await startPtyHost(network);
    const starting = { process: "ours", starting: true, outside: true, pid };
    expect(await readUnlisted(network.pty, [NAME])).toMatchObject([starting]);
    const end = { exitCode: 0, exitedAt: "2026-11-30T10:01:00.000Z", lastLines: [], error: null };
    writeLedger(network, { host: GONE, child: GONE, end });
    writeRecord(network, end);
    expect(await readSession(network.pty, NAME)).toMatchObject(starting);
  });
});

test("fifty mute sockets are asked together, within the time of one", async () => {
  const network = freshNetwork();
  const mute = Bun.listen({ unix: join(network.pty, "mute"), socket: { data: () => undefined } });
  for (let n = 0; n < 50; n += 1) {
    symlinkSync("mute", join(network.pty, `s${n}.sock`));
    writeRecord(network, { daemonPid: process.pid }, `s${n}`);
  }
  const started = performance.now();
  const { sessions } = await readRegistry(network.pty);
  mute.stop(true);
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(new Set(sessions.map((session) => session.process))).toEqual(new Set(["unknown"]));
});

const noOtherUser = missingUnless(
  ["setpriv", "--reuid=65534", "--clear-groups", process.execPath, "-e", ""],
  "nobody else may be become here, or run this Bun",
);

skippable(
  "another user's look at a session that it may not signal is running or unknown, never dead",
  noOtherUser,
  async () => {
    const network = freshNetwork();
    writeLedger(network, { host: living(process.pid), child: living(process.pid) });
    writeRecord(network);
    for (const folder of [network.root, network.pty, network.state, network.ledgers])
      chmodSync(folder, 0o755);
    const source = `import { readSession } from ${JSON.stringify(join(import.meta.dir, "read.ts"))};
    console.log((await readSession(process.argv[1], "box.a")).process);`;
    const other = start(
      ["setpriv", "--reuid=65534", "--clear-groups", process.execPath, "-e", source, network.pty],
      { env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" } },
    );
    expect(["ours", "unknown"]).toContain(await nextLine(other));
  },
);

test("fifty sessions of ours are read in few milliseconds", async () => {
  const network = freshNetwork();
  const self = living(process.pid);
  const baseEnv = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`VARIABLE_${n}`, "x".repeat(50)]));
  for (let n = 0; n < 50; n += 1) {
    writeLedger(network, { host: self, child: self, baseEnv }, `box.s${n}`);
    writeRecord(network, { env: baseEnv, tags: { role: "agent" }, daemonPid: process.pid }, `box.s${n}`);
    writeFileSync(sessionPaths(network.pty, `box.s${n}`).pid, String(process.pid));
  }
  // The processor's time, not the wall's: other tests run beside this one.
  const times: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const before = process.cpuUsage();
    expect((await readRegistry(network.pty)).sessions).toHaveLength(50);
    const used = process.cpuUsage(before);
    times.push((used.user + used.system) / 1000);
  }
  times.sort((a, b) => a - b);
  console.log(`50 sessions read in ${times[10]?.toFixed(1)} ms of processor time (median of 20)`);
  expect(times[10]).toBeLessThan(30);
});

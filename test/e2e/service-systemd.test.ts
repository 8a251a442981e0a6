/** The service under a real user manager of systemd: whatever is done to it, the agents are the processes they were. */
import { expect } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { skippable } from "../support/skippable.ts";
import { BINARY, type Ran } from "./binary.ts";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";
import { UserManager } from "./user-manager.ts";

const AGENTS = ["a", "b"];
let net: Net;
let manager: UserManager;
const missing = await UserManager.missing();

async function prepare(): Promise<void> {
  net = new Net();
  manager = await UserManager.start(net);
  for (const identity of AGENTS) net.declare(identity, { command: `exec agent ${identity} beat` });
}

/** A test in a network of its own, under a manager of its own. */
function managed(name: string, body: () => Promise<void>): void {
  skippable(
    name,
    missing,
    async () => {
      await prepare();
      try {
        await body();
      } finally {
        await manager.remove();
        await net.remove();
      }
    },
    10 * DEADLINE_MS,
  );
}

const program = () => join(net.bin, "convoy");
const pids = () => AGENTS.map((identity) => net.pid(identity));
const units = () => join(net.home, ".config/systemd/user");
const unit = () => readdirSync(units()).find((name) => name.endsWith(".service")) ?? "";

/** Runs a program where this test's manager is reached; the copy of convoy is on its PATH. */
async function run(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const env = net.env({ ...manager.variables, ...more });
  const child = Bun.spawn([...words], { cwd: net.home, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

const service = (action: string, ...words: string[]) =>
  run([program(), "service", action, ...words, "--network", net.root]);
const systemctl = (...words: string[]) => run(["systemctl", "--user", ...words]);

interface Status {
  readonly pid: number | null;
  readonly state: string | null;
  readonly exitCode: number | null;
  readonly supervisor: { readonly pid: number } | null;
  readonly problems: readonly { readonly message: string; readonly next: string }[];
}

/** This machine's users need not linger. */
async function status(): Promise<Status> {
  const found: Status = JSON.parse((await service("status", "--json")).stdout);
  return { ...found, problems: found.problems.filter(({ message }) => !message.includes("linger")) };
}

/** Waits until the service supervises, by another process than `former`. Read from files: asking often costs a lot. */
async function supervising(former: number | null = null): Promise<number> {
  return await until("the service to supervise", () => {
    const [path, name] = [join(net.state, "holder.json"), unit()];
    const pid: number | null = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).pid : null;
    return pid !== null && pid !== former && manager.processesOf(name).includes(pid) ? pid : null;
  });
}

async function install(): Promise<number> {
  copyFileSync(BINARY, program());
  const done = await service("install", "--no-linger");
  expect([done.code, done.stderr]).toEqual([0, ""]);
  const pid = await supervising();
  for (const identity of AGENTS) await net.running(identity);
  return pid;
}

async function expectPrinting(before: readonly (number | null)[]): Promise<void> {
  const beats = AGENTS.map((identity) => net.beats(identity));
  await until("two more lines of each agent", () =>
    AGENTS.every((identity, index) => net.beats(identity) >= beats[index]! + 2),
  );
  expect(pids()).toEqual([...before]);
}

managed("stopped, restarted, killed, upgraded, or removed: the service ends no agent", async () => {
  let pid = await install();
  const agents = pids();
  const acts: Readonly<Record<string, () => unknown>> = {
    restart: () => systemctl("restart", unit()),
    "stop and start": async () => {
      await systemctl("stop", unit());
      expect(await status()).toMatchObject({ state: "inactive", supervisor: null });
      await expectPrinting(agents);
      await systemctl("start", unit());
    },
    TERM: () => kill(pid, "SIGTERM"),
    KILL: () => kill(pid, "SIGKILL"),
    "a new binary in its place": async () => {
      copyFileSync(BINARY, `${program()}.new`);
      renameSync(`${program()}.new`, program());
      await systemctl("restart", unit());
    },
    "other flags": () => service("install", "--no-linger", "--interval", "7"),
    "a manager that executes itself anew": async () => {
      await systemctl("daemon-reexec");
      await systemctl("restart", unit());
    },
  };
  for (const [name, act] of Object.entries(acts)) {
    await act();
    const next = await supervising(pid);
    await expectPrinting(agents);
    expect([name, (await status()).problems, manager.processesOf(unit())]).toEqual([
      name,
      [],
      expect.arrayContaining([next, ...agents]),
    ]);
    pid = next;
  }
  expect(await service("uninstall")).toMatchObject({ code: 0 });
  expect(readdirSync(units()).filter((name) => name.endsWith(".service"))).toEqual([]);
  await expectPrinting(agents);
  expect((await run([program(), "ls", "--json", "--network", net.root])).stdout).toContain(
    '"supervisor": null',
  );
  await install();
  await expectPrinting(agents);
  expect(AGENTS.map((identity) => net.runs(identity).length)).toEqual([1, 1]);
});

managed(
  "holds outlive a restart of the service, and what its file says of the environment reaches the agents",
  async () => {
    copyFileSync(BINARY, program());
    const dry = await service("print");
    const file = / "([^"]*\.env)" /.exec(dry.stdout)?.[1] ?? "";
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "SOME_API_KEY='s3 c'\nPATH=$HOME/more:$PATH\n", { mode: 0o600 });
    net.declare("c", { command: 'echo "$SOME_API_KEY $PATH" >"$HOME/c.seen"; exec sleep 1000' });
    const pid = await install();
    const seen = () => Bun.spawnSync(["cat", join(net.home, "c.seen")]).stdout.toString();
    await until("the agent's environment", () => seen() !== "");
    expect(seen()).toStartWith(`s3 c ${net.home}/more:${net.bin}:`);
    expect(await net.convoy(["down", "--agent", "b"])).toMatchObject({ code: 0 });
    await systemctl("restart", unit());
    await supervising(pid);
    await net.event("up", (event) => event.pid !== pid);
    expect(net.said("released")).toEqual([]);
    expect([net.pid("a") === null, net.pid("b")]).toEqual([false, null]);
  },
);

managed(
  "a binary that has moved is found on PATH, status says so, and another install names it anew",
  async () => {
    const pid = await install();
    const agents = pids();
    const elsewhere = join(net.home, "2.0");
    mkdirSync(elsewhere);
    renameSync(program(), join(elsewhere, "convoy"));
    await systemctl("restart", unit());
    await until("exit code 127", async () => {
      const { stdout } = await run([
        join(elsewhere, "convoy"),
        "service",
        "status",
        "--json",
        "--network",
        net.root,
      ]);
      const { exitCode, problems }: Status = JSON.parse(stdout);
      return (
        exitCode === 127 &&
        problems.some(({ message }) => message === `it starts ${program()}, which is gone`)
      );
    });
    symlinkSync(join(elsewhere, "convoy"), program());
    const second = await supervising(pid);
    rmSync(program());
    const moved = await run(
      [join(elsewhere, "convoy"), "service", "install", "--no-linger", "--network", net.root],
      { PATH: `${elsewhere}:${net.env().PATH}` },
    );
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    renameSync(join(elsewhere, "convoy"), program());
    await systemctl("restart", unit());
    await supervising(second);
    await expectPrinting(agents);
  },
);

managed("beside a supervisor started by hand it waits, says so, and takes over", async () => {
  const byHand = await net.up();
  for (const identity of AGENTS) await net.running(identity);
  const agents = pids();
  copyFileSync(BINARY, program());
  expect(await service("install", "--no-linger")).toMatchObject({ code: 0 });
  const { pid, problems } = await status();
  expect(problems).toEqual([
    {
      severity: "warning",
      message: `it waits for another supervisor, pid ${byHand.pid}, to end (its agents live on)`,
      next: `kill ${byHand.pid}`,
    },
  ] as never);
  byHand.signal("SIGKILL");
  expect(await supervising()).toBe(pid!);
  await expectPrinting(agents);
});

managed("where a stop would end agents, nothing is stopped", async () => {
  const pid = await install();
  const agents = pids();
  const dropIn = join(units(), `${unit()}.d`);
  mkdirSync(dropIn);
  writeFileSync(join(dropIn, "kill.conf"), "[Service]\nKillMode=control-group\n");
  await systemctl("daemon-reload");
  for (const words of [["uninstall"], ["install", "--no-linger", "--interval", "9"]]) {
    const done = await service(...(words as [string, ...string[]]));
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringContaining("nothing was stopped: that would end every agent, its KillMode is not process"),
    ]);
  }
  expect((await status()).problems).toMatchObject([
    { message: "a stop of it would end every agent: its KillMode is not process" },
  ]);
  expect((await status()).pid).toBe(pid);
  await expectPrinting(agents);
});

managed("a network whose path has every odd character is supervised, and its unit verifies", async () => {
  copyFileSync(BINARY, program());
  const odd = join(net.home, `n %h $HOME "q" 'r' \\x ;é`);
  const convoy = (...words: string[]) => run([program(), ...words, "--network", odd]);
  expect(await convoy("init")).toMatchObject({ code: 0 });
  expect(await convoy("service", "install", "--no-linger")).toMatchObject({ code: 0, stderr: "" });
  const verified = await run(["systemd-analyze", "--user", "verify", join(units(), unit())]);
  expect(verified).toEqual({ code: 0, stdout: "", stderr: "" });
  const { network, supervisor, pid } = JSON.parse((await convoy("service", "status", "--json")).stdout);
  expect([network, supervisor.pid]).toEqual([odd, pid]);
  expect(JSON.parse((await convoy("ls", "--json")).stdout)).toMatchObject({
    network: odd,
    supervisor: { pid },
  });
});

managed("a network that is gone is asked for every few seconds, and supervised when it is back", async () => {
  const pid = await install();
  await net.convoy(["down"]);
  await systemctl("stop", unit());
  renameSync(net.root, `${net.root}.away`);
  await systemctl("start", unit());
  await until("exit code 3", async () => (await status()).exitCode === 3);
  renameSync(`${net.root}.away`, net.root);
  await supervising(pid);
});

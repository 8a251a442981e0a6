/** `convoy service` as a person types it, beside a stand-in for systemctl; and `convoy up --wait`. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skippable } from "../support/skippable.ts";
import { BINARY } from "./binary.ts";
import { fakeSystemctl, toldSystemctl, UNIT_PID } from "./fake-systemctl.ts";
import { DEADLINE_MS, isAlive, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(4 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
  fakeSystemctl(net);
});
afterEach(() => net.remove());

const folder = () => join(net.home, ".config/systemd/user");
const service = (...words: string[]) => net.convoy(["service", ...words]);
const unitName = () => readdirSync(folder()).find((name) => name.endsWith(".service")) ?? "";

/** What `status` says is wrong, but for lingering, which is this machine's. */
async function problems(): Promise<[string, string][]> {
  const { problems } = JSON.parse((await service("status", "--json")).stdout);
  return problems
    .filter(({ message }: { message: string }) => !message.includes("linger"))
    .map(({ message, next }: { message: string; next: string }) => [message, next]);
}

test("print writes what would be installed to stdout, and nothing anywhere", async () => {
  const before = snapshot(net.home);
  const unit = await service("print");
  expect([unit.code, unit.stderr]).toEqual([0, ""]);
  expect(unit.stdout).toStartWith("# Written by `convoy service install`");
  expect(unit.stdout).toContain(`"${BINARY}" `);
  expect(unit.stdout).toContain(` "up" "--network" "${net.root}" "--keep-holds" "--wait"\n`);
  expect(unit.stdout).toContain(`Environment="PATH=${net.bin}:`);
  const list = await service("print", "--manager", "launchd", "--on-event", "a & b");
  expect([list.code, list.stderr]).toEqual([0, ""]);
  expect(list.stdout).toContain("<key>AbandonProcessGroup</key>\n  <true/>");
  expect(list.stdout).toContain("<string>--on-event=a &amp; b</string>");
  expect(snapshot(net.home)).toEqual(before);
});

test("a program whose file was renamed over names the file that took its place", async () => {
  const file = join(net.home, "convoy");
  copyFileSync(BINARY, file);
  const line = `exec 3<"$0" && rm "$0" && cp "$1" "$0" && exec /proc/self/fd/3 service print --network "$2"`;
  const child = Bun.spawn(["sh", "-c", line, file, BINARY, net.root], {
    env: net.env(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const unit = await new Response(child.stdout).text();
  expect([await child.exited, unit.includes(`"${file}" "`)]).toEqual([0, true]);
});

test("install writes the unit, has it read, enabled and started; a second one does nothing", async () => {
  const { pid } = await net.up();
  const dry = await service("install", "--dry-run", "--no-linger");
  const name = /systemctl --user start (.*)/.exec(dry.stdout)?.[1] ?? "";
  const steps = [
    `write ${join(folder(), name)}`,
    "systemctl --user daemon-reload",
    `systemctl --user enable ${name}`,
    `systemctl --user start ${name}`,
  ];
  expect(dry).toEqual({ code: 0, stdout: `${steps.join("\n")}\n`, stderr: "" });
  expect([existsSync(folder()), toldSystemctl(net)]).toEqual([false, []]);
  expect(await problems()).toEqual([["it is not installed", `convoy service install --network ${net.root}`]]);

  const installed = await service("install", "--no-linger");
  expect(installed.code).toBe(0);
  expect(installed.stdout.split("\n").slice(0, 4)).toEqual(steps);
  expect(readFileSync(join(folder(), name), "utf8")).toBe((await service("print")).stdout);
  expect(toldSystemctl(net)).toEqual(["daemon-reload", `enable ${name}`, `start ${name}`]);
  expect(await problems()).toEqual([
    [`it waits for another supervisor, pid ${pid}, to end (its agents live on)`, `kill ${pid}`],
  ]);

  const again = await service("install", "--no-linger", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ unit: name, file: "current", pid: UNIT_PID, steps: [] });
  await service("install", "--no-linger", "--interval", "3");
  expect(toldSystemctl(net).slice(3)).toEqual(["daemon-reload", `enable ${name}`, `restart ${name}`]);
  expect(readFileSync(join(folder(), name), "utf8")).toContain('"--interval=3"');
  expect(await problems()).toHaveLength(1);

  const removed = await service("uninstall");
  expect(removed.stdout.split("\n").slice(0, 3)).toEqual([
    `systemctl --user disable --now ${name}`,
    `rm ${join(folder(), name)}`,
    "systemctl --user daemon-reload",
  ]);
  expect([readdirSync(folder()), isAlive(pid)]).toEqual([[], true]);
  expect(await service("uninstall")).toEqual({
    code: 0,
    stdout: "",
    stderr: `There is no service for ${net.root}.\n`,
  });
});

test("credentials of the shell are named, and in no file", async () => {
  await net.up();
  const secret = { ANTHROPIC_API_KEY: "s3cr3t", MY_TOKEN: "s3cr3t" };
  const installed = await net.convoy(["service", "install", "--no-linger"], secret);
  expect(installed.stderr).toContain("Set here and not handed to the service: ANTHROPIC_API_KEY, MY_TOKEN.");
  expect(
    installed.stderr + installed.stdout + readFileSync(join(folder(), unitName()), "utf8"),
  ).not.toContain("s3cr3t");
});

const user = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();
const lingers = existsSync(`/var/lib/systemd/linger/${user}`) ? `${user} lingers here` : null;
skippable("lingering that is refused is said with the command, and fails", lingers, async () => {
  await net.up();
  const installed = await service("install");
  expect(installed.code).toBe(1);
  expect(installed.stdout).toContain(`loginctl enable-linger ${user}\n`);
  expect(installed.stderr).toContain("Could not enable linger: Access denied");
  expect(installed.stderr).toContain(`next: loginctl enable-linger ${user}`);
  expect(readdirSync(folder())).toHaveLength(1);
});

test("status tells what has become of the unit, and of the program that it names", async () => {
  await net.up();
  await service("install", "--no-linger");
  const path = join(folder(), unitName());
  const install = `convoy service install --network ${net.root}`;
  const text = readFileSync(path, "utf8");
  const [other] = await problems();
  const cases: [string, [string, string][]][] = [
    [text.replace(BINARY, "/none/convoy"), [[`it starts /none/convoy, which is gone`, install]]],
    [text.replace(BINARY, "/bin/sh"), [["it starts /bin/sh, which is not this program", install]]],
    [`${text}# mine\n`, [[`${path} is not as this convoy writes it`, install]]],
  ];
  for (const [changed, expected] of cases) {
    writeFileSync(path, changed);
    expect(await problems()).toEqual([...expected, other!]);
  }
  writeFileSync(path, "[Service]\nExecStart=/bin/true\n");
  expect(await problems()).toEqual([[`${path} was not written by convoy`, `move it away, then ${install}`]]);
  for (const action of ["install", "uninstall"])
    expect(await service(action)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`convoy: ${path} was not written by convoy\n  next: `),
    });
  expect(readFileSync(path, "utf8")).toBe("[Service]\nExecStart=/bin/true\n");
});

test("what the manager refuses is this command's failure, in its words", async () => {
  mkdirSync(join(net.home, "sd"));
  writeFileSync(join(net.home, "sd/fails"), "");
  const refused = await service("install", "--no-linger");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    `convoy: systemctl --user daemon-reload: Access denied\n  next: convoy service status --network ${net.root}\n`,
  ]);
  net.program("systemctl", '#!/bin/sh\necho "Failed to connect to bus: No medium found" >&2\nexit 1\n');
  const absent = await service("install");
  expect([absent.code, absent.stderr]).toEqual([
    1,
    expect.stringContaining(
      "no user manager of systemd answers: systemctl --user show: Failed to connect to bus",
    ),
  ]);
  expect((await net.convoy(["service", "install"], { PATH: "/none" })).stderr).toContain(
    "there is no systemctl on PATH",
  );
});

test.each<[string[], number, string]>([
  [["service"], 2, "<action> is missing"],
  [["service", "start"], 2, '<action> is "start"; it can be install, uninstall, status, print'],
  [["service", "print", "--dry-run"], 2, "service print: --dry-run is not for it"],
  [["service", "status", "--interval", "3"], 2, "--interval, --fast-fail-… or --on-event is not for it"],
  [["service", "install", "--manager", "launchd"], 2, "--manager is not for it"],
  [["up", "--wait", "--detach"], 2, "--wait and --detach exclude each other"],
])("%j is wrong usage", async (words, code, said) => {
  expect(await net.convoy(words)).toEqual({ code, stdout: "", stderr: expect.stringContaining(said) });
});

test("no network: nothing is installed or printed, and what is installed can still be taken away", async () => {
  const gone = { CONVOY_NETWORK: "" };
  for (const action of ["install", "print"]) {
    const child = Bun.spawn([BINARY, "service", action, "--network", join(net.home, "none")], {
      env: net.env(gone),
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect([await child.exited, await new Response(child.stdout).text()]).toEqual([3, ""]);
  }
  await net.up();
  await service("install", "--no-linger");
  const path = join(folder(), unitName());
  Bun.spawnSync(["mv", net.root, `${net.root}.away`]);
  expect(await service("uninstall")).toMatchObject({ code: 0 });
  expect(existsSync(path)).toBe(false);
});

test("up --wait waits for the other supervisor, says so once, and supervises when it is gone", async () => {
  net.declare("a");
  const first = await net.up();
  const agent = await net.running("a");
  const waiting = net.spawn(["up", "--wait", "--json"]);
  const decoder = new TextDecoder();
  let said = "";
  const listen = (chunk: Uint8Array) => {
    said += decoder.decode(chunk, { stream: true });
  };
  void waiting.stderr.pipeTo(new WritableStream({ write: listen }));
  const words = `Waiting for the supervisor with pid ${first.pid} to end, which holds ${net.root}.\n`;
  await until("its words", () => said === words);
  expect(net.said("up").map(({ pid }) => pid)).toEqual([first.pid]);
  kill(first.pid);
  await net.event("up", (event) => event.pid === waiting.pid);
  waiting.kill("SIGTERM");
  expect([await waiting.exited, said.startsWith(words), net.pid("a")]).toEqual([0, true, agent]);
});

test("up --wait ends with 3 when the network goes away meanwhile, and makes no new one", async () => {
  const first = await net.up();
  const waiting = net.spawn(["up", "--wait"]);
  const reader = waiting.stderr.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toStartWith("Waiting for ");
  // Stopped, it makes nothing anew.
  kill(first.pid, "SIGSTOP");
  Bun.spawnSync(["mv", net.root, `${net.root}.away`]);
  kill(first.pid);
  expect([await waiting.exited, existsSync(net.root)]).toEqual([3, false]);
});

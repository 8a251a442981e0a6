/** `convoy doctor` on networks that are well, and on ones that are not. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, kill, Net, snapshot, until } from "./kit.ts";

setDefaultTimeout(4 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

interface Found {
  readonly name: string;
  readonly answer: string;
  readonly message: string;
  readonly fix: string | null;
}
interface Report {
  readonly pass: number;
  readonly fail: number;
  readonly unknown: number;
  readonly checks: readonly Found[];
}

async function doctor(more: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await net.convoy(["doctor", "--json"], more);
  const report: Report = JSON.parse(stdout);
  expect(stderr).toBe("");
  // What the machine is like is not this test's: the code follows from the answers.
  expect(code).toBe(report.fail === 0 ? 0 : 1);
  return { report, of: (name: string) => report.checks.find((check) => check.name === name) };
}

test("a network that is well passes each of its checks, and nothing is changed by looking", async () => {
  net.program(
    "claude",
    '#!/bin/sh\n[ "$1" = --version ] && echo "9.8 (Claude Code)" && exit\nexec sleep 1000\n',
  );
  net.program("st", "#!/bin/sh\necho st 3; [ $1 = --version ] || exec sleep 1000\n");
  net.declare("a", { command: null });
  net.declare("b");
  await net.once();
  await net.quiet();
  const before = snapshot(net.home);
  const secret = { OPENAI_API_KEY: "s3cr3t", SOME_TOKEN: "s3cr3t" };
  const { report, of } = await doctor(secret);
  expect(snapshot(net.home)).toEqual(before);
  const names = ["path-lengths", "permissions", "stale-locks", "sessions", "service", "disk-space"];
  expect(names.map((name) => of(name)?.answer)).toEqual(names.map(() => "pass"));
  expect(of("program claude")).toEqual({
    name: "program claude",
    answer: "pass",
    message: `${net.bin}/claude, 9.8 (Claude Code), for a`,
    fix: null,
  });
  expect(of("st")?.message).toBe(`${net.bin}/st, st 3, for a`);
  expect(of("credentials")?.message).toBe("set here: OPENAI_API_KEY, SOME_TOKEN");
  expect(of("sessions")?.message).toBe("3 sessions, none orphaned, none unverifiable");
  for (const name of ["watch-limits", "lingering", "KillUserProcesses", "clock"])
    expect(of(name)).toBeDefined();
  expect(JSON.stringify(report)).not.toContain("s3cr3t");
  for (const { answer, fix } of report.checks) if (answer === "fail") expect(fix).not.toBeNull();
  const answers = report.checks.map(({ answer }) => answer);
  for (const answer of ["pass", "fail", "unknown"] as const)
    expect(report[answer]).toBe(answers.filter((one) => one === answer).length);
});

test("each fault of a network fails, with its fix", async () => {
  net.declare("a", { command: null, lines: ['harness = "codex"'] });
  net.declare("b", { command: "trap '' HUP; exec agent b" });
  net.declare("c", { command: null, lines: ['bin = "/none/claude"', 'transport = "mcp"'] });
  await net.once();
  await net.running("b");
  await net.quiet();
  kill(net.ledger("b")?.host?.pid ?? null);
  const lock = join(net.pty, "x.lock");
  writeFileSync(lock, String(Bun.spawnSync(["true"]).pid));
  const then = Date.now() / 1_000 - 120;
  utimesSync(lock, then, then);
  chmodSync(net.pty, 0o755);
  const bare = { PATH: "/usr/bin:/bin" };
  await until(
    "the host's death to be seen",
    async () => (await doctor(bare)).of("sessions")?.answer === "fail",
  );
  const { of } = await doctor(bare);
  const expected: [string, string, string][] = [
    ["permissions", `${net.pty} is open to other users (755)`, `chmod 700 '${net.pty}'`],
    [
      "stale-locks",
      `1 lock of dead processes, ${lock} for one`,
      "convoy up --once removes them, when no supervisor runs; so does the next who wants one",
    ],
    ["sessions", "orphaned, without screen and input: box.b", "when it suits: convoy restart b"],
    ["program codex", "not on PATH (/usr/bin:/bin), and a needs it", "install codex, or put it on PATH"],
    [
      "program /none/claude",
      "not on PATH (/usr/bin:/bin), and c needs it",
      "install /none/claude, or put it on PATH",
    ],
    [
      "st",
      "not on PATH (/usr/bin:/bin): nothing rings when a message comes for a",
      'put st on PATH, or declare transport = "mcp"',
    ],
  ];
  for (const [name, message, fix] of expected)
    expect(of(name)).toEqual({ name, answer: "fail", message, fix });
  const { code, stdout, stderr } = await net.convoy(["doctor"], bare);
  expect(code).toBe(1);
  expect(stdout).toContain(`\n  fix: chmod 700 '${net.pty}'\n`);
  expect(stderr).toEndWith(` could not tell.\nThe commands above need --network ${net.root}.\n`);
});

test("where there is no network the machine is looked at all the same", async () => {
  const odd = join(net.home, "o".repeat(70));
  const child = Bun.spawn([BINARY, "doctor", "--json", "--network", odd], {
    env: net.env(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { checks }: Report = JSON.parse(await new Response(child.stdout).text());
  expect(checks.find(({ name }) => name === "network")).toEqual({
    name: "network",
    answer: "unknown",
    message: `no network at ${odd}`,
    fix: `convoy init ${odd}`,
  });
  expect(checks.find(({ name }) => name === "path-lengths")?.answer).toBe("fail");
  expect([await child.exited, existsSync(odd)]).toEqual([1, false]);
});

test("a declaration whose sockets would have too long a path is the failure of path-lengths", async () => {
  net.declare("a".repeat(90), { path: "long.toml" });
  const { of } = await doctor();
  expect(of("path-lengths")).toMatchObject({
    answer: "fail",
    message: expect.stringContaining("socket path "),
  });
});

test("doctor takes one word", async () => {
  expect(await net.convoy(["doctor", "me"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('<what> is "me"; it can be survive'),
  });
});

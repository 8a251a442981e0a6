/** PTY-05: an agent gets its own identity and a sane terminal, whoever and whatever started convoy. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const FOREIGN = {
  CLAUDECODE: "1",
  CLAUDE_CODE_ENTRYPOINT: "cli",
  TMUX: "x",
  STY: "x",
  PTY_SESSION: "x",
  ST_AGENT: "other",
  ST_ROOT: undefined,
  NO_COLOR: "1",
  COLUMNS: "10",
  LINES: "3",
  BUN_OPTIONS: "--smol",
};

test(
  "started inside another agent's session, and respawned from another shell",
  async () => {
    field.declare("a");
    const from = { ...FOREIGN, ANTHROPIC_API_KEY: "key", SHELL_OWN: "first" };
    expect((await field.once({ env: from })).code).toBe(0);
    const [first] = await field.untilLaunched(1);
    const got = field.environmentOf(first!);
    expect(got).toMatchObject({
      ST_AGENT: "box.a",
      PTY_SESSION: "box.a",
      ST_ROOT: `${field.network}/smalltalk`,
      CONVOY_NETWORK: field.network,
      TERM: "xterm-256color",
      ANTHROPIC_API_KEY: "key",
      HOME: field.home,
    });
    const names = Object.keys(got);
    expect(
      names.filter((name) => /^(CLAUDECODE|CLAUDE_CODE_|TMUX|STY|NO_COLOR|COLUMNS|LINES|BUN_)/.test(name)),
    ).toEqual([]);

    kill(first!.pid, "SIGKILL");
    await until("the host to leave", () => !isAlive(first!.hostPid));
    expect((await field.once({ env: { SHELL_OWN: "second", OTHER: "x" } })).code).toBe(0);
    const second = (await field.untilLaunched(2))[1]!;
    expect(field.environmentOf(second)).toEqual(got);
  },
  TEST_MS,
);

test(
  "from a service manager's bare environment",
  async () => {
    field.declare("a");
    const bare = { PATH: "/usr/bin:/bin", XDG_STATE_HOME: undefined };
    const ran = await field.once({ env: bare });
    expect(ran.code).toBe(1);
    const waiting = ran.events.find(({ type }) => type === "waiting");
    expect(String(waiting?.for)).toContain("claude");
    expect(String(waiting?.for)).toContain("/usr/bin:/bin");
    expect(field.launches()).toEqual([]);
    // It is not parked for that, and starts when it can be found.
    expect((await field.once()).code).toBe(0);
    const [run] = await field.untilLaunched(1);
    const got = field.environmentOf(run!);
    expect(got.TERM).toBe("xterm-256color");
    expect([got.USER, got.LOGNAME, got.SHELL]).not.toContain("unknown");
  },
  TEST_MS,
);

/** BUN-03: signals are heard while input flows. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PersonTerminal } from "../e2e/terminal.ts";
import { BINARY, Field, isAlive, kill, TEST_MS, until } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const LIMIT_MS = 2_000;

/** Ends within the limit; answers how long it took. */
async function endsBy(signal: NodeJS.Signals, pid: number): Promise<number> {
  const began = performance.now();
  kill(pid, signal);
  await until("the end", () => !isAlive(pid));
  return performance.now() - began;
}

/** A shell line with `convoy <words>` in it; its pid is written down. */
const noted = (words: string) =>
  `sh -c 'echo $$ >${field.root}/pid; exec ${BINARY} ${words} --network ${field.network}'`;
const notedPid = () => Number(readFileSync(join(field.root, "pid"), "utf8"));

test.each([
  ["yes |", "", "exec cat >/dev/null"],
  ["yes |", "", "sleep 1000"],
  ["", "</dev/zero", "exec cat >/dev/null"],
  ["", "</dev/zero", "sleep 1000"],
])(
  "%s convoy attach a %s, into an agent that runs: %s",
  async (before, after, agent) => {
    field.declare("a");
    field.behave("box.a", `stty raw -echo; printf '\\033[?1049h\\033[?25lready'; ${agent}`);
    expect((await field.once()).code).toBe(0);
    const [launch] = await field.untilLaunched(1);
    for (const signal of SIGNALS) {
      const script = `trap : INT; before=$(stty -g); ${before} ${noted("attach a")} ${after}; echo "code $?."; [ "$before" = "$(stty -g)" ] && echo "settings as before."`;
      const terminal = new PersonTerminal({
        command: ["sh", "-c", script],
        env: field.environment(),
        cwd: field.root,
      });
      await terminal.shows("ready");
      await Bun.sleep(200);
      expect(await endsBy(signal, notedPid())).toBeLessThan(LIMIT_MS);
      await terminal.shows("code 0.");
      await terminal.shows("settings as before.");
      expect(terminal.text).toMatch(/\x1b\[\?25h[\s\S]*\x1b\[\?1049l/);
      await terminal.ended();
      expect(isAlive(launch!.pid)).toBe(true);
    }
  },
  TEST_MS,
);

test(
  "yes | convoy up",
  async () => {
    field.declare("a");
    for (const signal of SIGNALS) {
      const child = Bun.spawn(["sh", "-c", `yes | ${noted("up --json")}`], {
        env: field.environment(),
        cwd: field.root,
        stdout: "pipe",
        stderr: "ignore",
      });
      for await (const bytes of child.stdout) if (Buffer.from(bytes).includes('"plan"')) break;
      const [launch] = await field.untilLaunched(1);
      expect(await endsBy(signal, notedPid())).toBeLessThan(LIMIT_MS);
      await child.exited;
      expect(isAlive(launch!.pid)).toBe(true);
    }
  },
  TEST_MS,
);

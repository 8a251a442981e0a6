/** A throw-away network that pty's own program sees too, through the exports of `convoy env`. */
import { resolve } from "node:path";
import type { Ran } from "../e2e/binary.ts";
import { Net } from "../e2e/kit.ts";
import { PersonTerminal } from "../e2e/terminal.ts";

/** The real program of the devDependency; `scripts/setup-pty.sh` makes it ready. */
const PROGRAM = resolve(import.meta.dir, "../../node_modules/@myobie/pty/dist/cli.js");

type Variables = Readonly<Record<string, string>>;

export class PtyNet extends Net {
  private exports: Promise<Variables> | null = null;

  /** What `convoy env` exports here. */
  wiring(): Promise<Variables> {
    this.exports ??= this.convoy(["env", "--json"]).then(({ stdout }) => JSON.parse(stdout));
    return this.exports;
  }

  /** Starts `pty <words>` without a terminal, with its standard streams piped. */
  async spawnPty(words: readonly string[], more: Variables = {}) {
    return Bun.spawn(["node", PROGRAM, ...words], {
      cwd: this.home,
      env: { ...this.env(more), ...(await this.wiring()) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  async runPty(words: readonly string[], more: Variables = {}): Promise<Ran> {
    const child = await this.spawnPty(words, more);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  /** `pty <words>` in a person's terminal. */
  async personAtPty(words: readonly string[], rows = 24, cols = 80): Promise<PersonTerminal> {
    const env = { ...this.env(), ...(await this.wiring()) };
    return new PersonTerminal({ command: ["node", PROGRAM, ...words], cwd: this.home, env, rows, cols });
  }
}

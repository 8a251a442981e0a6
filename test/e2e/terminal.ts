/** A person's terminal: a real one, with convoy in it, typed into and read. */
import { until } from "./kit.ts";

export interface TerminalOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly rows?: number;
  readonly cols?: number;
}

export class PersonTerminal {
  readonly child: Bun.Subprocess;
  private readonly pieces: Buffer[] = [];
  private size = 0;

  constructor({ command, env, cwd, rows = 24, cols = 80 }: TerminalOptions) {
    this.child = Bun.spawn([...command], {
      cwd,
      env: { TERM: "xterm-256color", NO_COLOR: "1", ...env },
      terminal: {
        rows,
        cols,
        data: (_terminal, bytes) => {
          this.pieces.push(Buffer.from(bytes));
          this.size += bytes.length;
        },
      },
    });
  }

  /** Every byte shown so far. */
  get shown(): Buffer {
    const all = Buffer.concat(this.pieces, this.size);
    this.pieces.splice(0, this.pieces.length, all);
    return all;
  }

  get text(): string {
    return this.shown.toString();
  }

  type(keys: string | Uint8Array): void {
    this.child.terminal!.write(keys);
  }

  resize(rows: number, cols: number): void {
    this.child.terminal!.resize(cols, rows);
  }

  /** How many bytes have been shown: where `shows` may begin to look. */
  get length(): number {
    return this.size;
  }

  /** Waits until `wanted` has been shown, after the first `from` bytes. */
  async shows(wanted: string, from = 0): Promise<void> {
    let looked = 0;
    await until(
      `the terminal to show ${JSON.stringify(wanted)}`,
      () => {
        if (looked === this.size) return false;
        looked = this.size;
        return this.shown.indexOf(wanted, from) >= 0;
      },
      () => JSON.stringify(this.text.slice(-2_000)),
    );
  }

  /** Resolves to the exit code of what runs in it. */
  async ended(): Promise<number> {
    return await this.child.exited;
  }
}

/** A shell command that runs `command` and then says its exit code and whether the terminal's settings are as before. */
export function inShell(command: readonly string[]): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const script = `before=$(stty -g); sh -c 'echo "pid $$."; exec "$@"' sh ${quoted}; echo "code $?."; [ "$before" = "$(stty -g)" ] && echo "settings as before."`;
  return ["sh", "-c", script];
}

/** Real interactive shells, with convoy's completions loaded the way its help says, typed into and their screen read. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Terminal } from "@xterm/headless";
import { BINARY } from "./binary.ts";
import { type Net, until } from "./kit.ts";
import { PersonTerminal } from "./terminal.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const COLS = 100;
const ROWS = 40;

/** What a person's own settings files would hold, and how the shell is started to read these and no others. */
const SETTINGS: Readonly<
  Record<Shell, { words: readonly string[]; files: Readonly<Record<string, string>> }>
> = {
  bash: {
    words: ["bash", "--noprofile", "--rcfile", ".bashrc", "-i"],
    files: {
      ".inputrc": "set bell-style none\nset completion-query-items 0\n",
      ".bashrc": `PS1='$ '\nunset HISTFILE\neval "$(convoy completions bash)"\n`,
    },
  },
  zsh: {
    words: ["zsh", "-d", "-i"],
    files: {
      ".zshrc": `PS1='$ '\nunsetopt beep\nautoload -Uz compinit && compinit -u -D\neval "$(convoy completions zsh)"\n`,
    },
  },
  fish: {
    words: ["fish", "-i"],
    files: {
      ".config/fish/config.fish":
        "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt\n  echo -n '$ '\nend\n",
      // Where this folder is, fish does not read the manual pages for completions of other programs.
      ".local/share/fish/generated_completions/none.fish": "",
    },
  },
};

export class ShellTerminal {
  private readonly terminal: PersonTerminal;
  private readonly screen = new Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true });
  private read = 0;

  /** Starts `shell` in the home of `net`, with convoy on its PATH; resolves at its prompt. `own` goes over its files. */
  static async start(
    shell: Shell,
    net: Net,
    own: Readonly<Record<string, string>> = {},
  ): Promise<ShellTerminal> {
    const { words, files } = SETTINGS[shell];
    for (const [name, text] of Object.entries({ ...files, ...own })) {
      mkdirSync(dirname(join(net.home, name)), { recursive: true });
      writeFileSync(join(net.home, name), text);
    }
    symlinkSync(BINARY, join(net.bin, "convoy"));
    if (shell === "fish") {
      const { stdout } = await net.convoy(["completions", "fish"]);
      mkdirSync(join(net.home, ".config/fish/completions"), { recursive: true });
      writeFileSync(join(net.home, ".config/fish/completions/convoy.fish"), stdout);
    }
    const env = { ...net.env(), CONVOY_NETWORK: net.root, ZDOTDIR: net.home, LC_ALL: "C.UTF-8" };
    const terminal = new PersonTerminal({ command: words, env, cwd: net.home, rows: ROWS, cols: COLS });
    const started = new ShellTerminal(terminal);
    await started.shows("$");
    return started;
  }

  private constructor(terminal: PersonTerminal) {
    this.terminal = terminal;
    // Shells ask their terminal what it is, and some wait for the answer.
    this.screen.onData((answer) => terminal.type(answer));
  }

  /** The lines on the screen, without blanks at their ends and empty lines at its end. */
  async lines(): Promise<string[]> {
    const { shown } = this.terminal;
    const fresh = shown.subarray(this.read);
    this.read = shown.length;
    await new Promise<void>((done) => this.screen.write(fresh, done));
    const { active } = this.screen.buffer;
    const rows = Array.from(
      { length: ROWS },
      (_, row) =>
        active
          .getLine(active.viewportY + row)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  }

  type(keys: string): void {
    this.terminal.type(keys);
  }

  /** Waits until the screen is as `wanted` says: its lines from the top, joined by line ends. */
  async shows(wanted: string | RegExp): Promise<string> {
    let text = "";
    await until(
      `the screen to show ${wanted}`,
      async () => {
        text = (await this.lines()).join("\n");
        return typeof wanted === "string" ? text === wanted : wanted.test(text);
      },
      () => text,
    );
    return text;
  }
}

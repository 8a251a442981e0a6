/** `convoy completions` in real interactive shells: keys typed, Tab pressed, the screen read. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, Net, snapshot } from "./kit.ts";
import { SHELLS, ShellTerminal } from "./shells.ts";

// Each key of a whole table is waited for.
setDefaultTimeout(10 * DEADLINE_MS);

/** A name that does something when a shell reads it as a part of its line. */
const NASTY = "dir $(touch ran) `touch ran` 'q\"";

let net: Net;
beforeEach(() => {
  net = new Net();
  for (const name of ["fabric", "fathom", "notes.v2"]) net.declare(name);
  net.declare("there", { host: "gold" });
  for (const name of ["work", NASTY]) mkdirSync(join(net.home, ".local/state/convoy", name, "catalog"), DEEP);
  for (const name of ["plain/sub", NASTY]) mkdirSync(join(net.home, name), DEEP);
  writeFileSync(join(net.home, "plain/notify"), "");
});
afterEach(() => net.remove());

const DEEP = { recursive: true };
/** Empties the line, and the screen. */
const CLEAR = "\x15\x0c";
const ESCAPE = "\x1b";

/** What is typed before Tab, and the line afterwards. */
const COMPLETED: readonly (readonly [string, string])[] = [
  ["convoy pe", "convoy peek"],
  ["convoy completions z", "convoy completions zsh"],
  ["convoy peek fab", "convoy peek fabric"],
  ["convoy peek the", "convoy peek there"],
  ['convoy peek "fab', 'convoy peek "fabric"'],
  ["convoy peek 'fab", "convoy peek 'fabric'"],
  ["convoy peek box.fab", "convoy peek box.fabric"],
  ["convoy logs -fn 3 note", "convoy logs -fn 3 notes.v2"],
  ["convoy peek fabric --fu", "convoy peek fabric --full"],
  ["convoy add wor", "convoy add worker"],
  ["convoy add worker --harness cod", "convoy add worker --harness codex"],
  ["convoy add worker --harness=cod", "convoy add worker --harness=codex"],
  ["convoy add worker --format=kd", "convoy add worker --format=kdl"],
  ["convoy add worker --supervisor fat", "convoy add worker --supervisor fathom"],
  ["convoy add worker --host go", "convoy add worker --host gold"],
  ["convoy send fabric --key esca", "convoy send fabric --key escape"],
  ["convoy up wo", "convoy up work"],
  ["convoy --network wo", "convoy --network work"],
  ["convoy down --network=wo", "convoy down --network=work"],
  ["convoy down --agent fab", "convoy down --agent fabric"],
  ["convoy ls ./pl", "convoy ls ./plain/"],
  ["convoy add worker --dir pl", "convoy add worker --dir plain/"],
  ["convoy add worker --dir=plain/s", "convoy add worker --dir=plain/sub/"],
  ["convoy add worker --dir ~/pl", "convoy add worker --dir ~/plain/"],
  ["convoy up --on-event plain/no", "convoy up --on-event plain/notify"],
  ["bin/convoy pe", "bin/convoy peek"],
  ["~/bin/convoy pe", "~/bin/convoy peek"],
];

/** Nothing is offered, and nothing of the line is run: it stays as it is. */
const UNCHANGED = [
  "convoy nonsense fab",
  "convoy peek fabric fab",
  "convoy ls plain",
  "convoy --network ./nowhere peek fab",
  'convoy --network "$(touch ran)" peek fab',
  "convoy --network `touch ran` peek fab",
  "convoy ls di",
];

/** What is typed before Tab, and the words that are listed below the line. */
const LISTED: readonly (readonly [string, readonly string[]])[] = [
  ["convoy peek f", ["fabric", "fathom", "fresh"]],
  ["convoy add worker --harness=", ["claude", "codex", "opencode", "pi"]],
  ["convoy peek fabric --", ["--full", "--ansi", "--follow", "--json", "--network", "--help"]],
];

for (const shell of SHELLS) {
  const missing = missingPrograms(shell);

  skippable(`${shell} completes commands, flags, values, agents, networks and paths`, missing, async () => {
    const terminal = await ShellTerminal.start(shell, net);
    for (const [typed, line] of COMPLETED) {
      terminal.type(`${CLEAR}${typed}\t`);
      await terminal.shows(`$ ${line}`);
    }
    for (const typed of UNCHANGED) {
      terminal.type(`${CLEAR}${typed}\t.`);
      await terminal.shows(`$ ${typed}.`);
    }
    expect(existsSync(join(net.home, "ran"))).toBe(false);
  });

  skippable(`${shell} lists what there is, an agent declared a moment ago too`, missing, async () => {
    const terminal = await ShellTerminal.start(shell, net);
    net.declare("fresh");
    for (const [typed, words] of LISTED) {
      terminal.type(`${CLEAR}${typed}`);
      await terminal.shows(`$ ${typed}`);
      terminal.type(shell === "bash" ? "\t\t" : "\t");
      const each = words.map((word) => `(?=[^]*\\n[^]*(?<![\\w-])${word}(?![\\w-]))`);
      await terminal.shows(new RegExp(each.join("")));
      if (shell === "fish") terminal.type(ESCAPE);
    }
  });

  skippable(`${shell} quotes a name that would do harm, and runs nothing of it`, missing, async () => {
    const terminal = await ShellTerminal.start(shell, net);
    terminal.type("convoy add worker --identity x --dry-run --dir di\t");
    await terminal.shows(/--dir dir.*q.*\/$/);
    terminal.type("\r");
    const workspace = `workspace = ${JSON.stringify(join(net.home, NASTY))}`;
    expect(await terminal.shows(/workspace = .*"$/m)).toContain(workspace);
    expect(existsSync(join(net.home, "ran"))).toBe(false);
  });
}

skippable("zsh loads the script from a folder of its own by itself", missingPrograms("zsh"), async () => {
  mkdirSync(join(net.home, "functions"));
  writeFileSync(join(net.home, "functions/_convoy"), (await net.convoy(["completions", "zsh"])).stdout);
  const terminal = await ShellTerminal.start("zsh", net, {
    ".zshrc": "PS1='$ '\nfpath=(~/functions $fpath)\nautoload -Uz compinit && compinit -u -D\n",
  });
  for (const _ of ["loads it", "has it"]) {
    terminal.type(`${CLEAR}convoy peek fab\t`);
    await terminal.shows("$ convoy peek fabric");
  }
});

/** The answer that the scripts get, and what is left of it. */
async function ask(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([BINARY, "__complete", ...words], {
    cwd: net.home,
    env: net.env({ CONVOY_NETWORK: net.root, ...more }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

test("the answer to a shell: words with a few words about each, or a kind of path; nothing that needs quotes", async () => {
  await net.once();
  const answers: [string[], string[]][] = [
    [
      ["peek", ""],
      [
        "words",
        "fabric\tchief-of-staff",
        "fathom\tchief-of-staff",
        "notes.v2\tchief-of-staff",
        "there\tchief-of-staff, on gold",
      ],
    ],
    [
      ["ls", ""],
      ["words", "work\tnetwork"],
    ],
    [["ls", "./"], ["directory"]],
    [["up", "--on-event", ""], ["file"]],
    [
      ["add", "worker", "--host", ""],
      ["words", "box\tthis machine", "gold"],
    ],
    [
      ["send", "fabric", ""],
      expect.arrayContaining(["words", "--enter\tpress Enter, after everything else"]),
    ],
  ];
  for (const [words, lines] of answers) {
    const { code, stdout, stderr } = await ask(["fish", ...words]);
    expect([words, code, stdout.trimEnd().split("\n"), stderr]).toEqual([words, 0, lines, ""]);
  }
  const bash = await ask(["bash", "--network", `"${net.root}"`, "peek", "'fa"]);
  expect(bash.stdout).toStartWith("words\nfabric\t");
});

test("where there is no answer nothing is said, and nothing is created in any case", async () => {
  const files = () => [snapshot(net.home), snapshot(net.root)];
  const before = files();
  const nothing = { code: 1, stdout: "", stderr: "" };
  expect(await ask(["bash", "peek", "--network", "nowhere", ""])).toEqual(nothing);
  expect(await ask(["bash", "peek", ""], { CONVOY_HOST: "a b" })).toEqual(nothing);
  expect(await ask(["bash", "peek", ""], { CONVOY_NETWORK: join(net.home, "none") })).toEqual(nothing);
  expect(await ask(["bash", "ls", ""], { HOME: join(net.home, "none") })).toMatchObject({ code: 0 });
  expect(await ask([])).toMatchObject({ code: 0, stderr: "" });
  expect(await ask(["bash", "peek", "--network", "nowhere", ""], { CONVOY_DEBUG: "1" })).toEqual({
    code: 3,
    stdout: "",
    stderr: expect.stringContaining("no network at"),
  });
  expect(files()).toEqual(before);
  expect(before.flat().some((line) => line.includes("none"))).toBe(false);
});

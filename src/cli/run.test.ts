import { expect, test } from "bun:test";
import { ConvoyError } from "../errors.ts";
import { type Command, defineConvoyCommand, NETWORK_ARGUMENT } from "./command.ts";
import type { TableRow } from "./command-table.ts";
import { createOutput } from "./output.ts";
import { runCommandLine } from "./run.ts";
import type { Sink } from "./sink.ts";

function recorder(): Sink & { text: string } {
  return {
    text: "",
    terminal: () => false,
    columns: () => 80,
    write(text) {
      this.text += text;
      return true;
    },
    async writeSoon(text) {
      return this.write(text);
    },
  };
}

const EXAMPLES: Command["examples"] = [{ line: "convoy ls", what: "list" }];
const ls = defineConvoyCommand({
  args: { network: NETWORK_ARGUMENT },
  examples: EXAMPLES,
  run({ output, network }) {
    output.out(`ls ${network().root}`);
    return 0;
  },
});
const failing = (thrown: unknown) =>
  defineConvoyCommand({
    args: {},
    examples: EXAMPLES,
    run() {
      throw thrown;
    },
  });

const row = (name: string, command: Command): TableRow => ({
  name,
  summary: `does ${name}`,
  load: async () => ({ default: command }),
});
const TABLE = [
  row("ls", ls),
  row("five", defineConvoyCommand({ args: {}, examples: EXAMPLES, run: async () => 5 })),
  row("gone", failing(new ConvoyError("not-found", "no agent called x", "convoy ls"))),
  row("locked", failing(new ConvoyError("locked", "another supervisor holds this network"))),
  row("broken", failing(new Error("first\n  second"))),
  row(
    "denied",
    failing(Object.assign(new Error("EACCES: permission denied, open '/x'"), { code: "EACCES" })),
  ),
];

async function run(words: readonly string[], env: Record<string, string> = {}) {
  const stdout = recorder();
  const stderr = recorder();
  const output = createOutput(stdout, stderr, env);
  const code = await runCommandLine(words, { output, env, home: "/home/u", cwd: "/w" }, TABLE);
  return [code, stdout.text, stderr.text];
}

test.each([
  [[], "ls /home/u/.local/state/convoy/default\n"],
  [["--network", "./n"], "ls /w/n\n"],
  [["--network=./n"], "ls /w/n\n"],
  [["ls", "./n"], "ls /w/n\n"],
  [["--network", "./n", "ls"], "ls /w/n\n"],
  [["ls", "./n", "--network", "/w/n/"], "ls /w/n\n"],
  [["--", "./n"], "ls /w/n\n"],
])("%p runs ls", async (words, stdout) => {
  expect(await run(words)).toEqual([0, stdout, ""]);
});

test("a command's return value is the exit code", async () => {
  expect(await run(["five"])).toEqual([5, "", ""]);
});

test.each([
  [["lss"], 2, 'convoy: unknown command "lss"; did you mean ls?\n  next: convoy ls --help\n'],
  [["xyzzy"], 2, 'convoy: unknown command "xyzzy"\n  next: convoy --help\n'],
  [["toString"], 2, 'convoy: unknown command "toString"\n  next: convoy --help\n'],
  [
    ["ls", "--ntework", "x"],
    2,
    "convoy: ls: unknown flag --ntework; did you mean --network?\n  next: convoy ls --help\n",
  ],
  [["--json"], 2, "convoy: ls: unknown flag --json\n  next: convoy ls --help\n"],
  [["ls", "a", "--network", "b"], 2, 'convoy: two networks are named: "a" and --network "b"\n'],
  [["ls", "a b"], 2, /^convoy: "a b" is not a network: /],
  [["gone"], 3, "convoy: no agent called x\n  next: convoy ls\n"],
  [["locked"], 4, "convoy: another supervisor holds this network\n"],
  [
    ["broken"],
    1,
    "convoy: unexpected error: first; second\n  next: set CONVOY_DEBUG=1 to see where it comes from\n",
  ],
  [["denied"], 1, "convoy: EACCES: permission denied, open '/x'\n"],
] as const)("%p fails with %p, on stderr", async (words, code, stderr) => {
  expect(await run(words)).toEqual([
    code,
    "",
    typeof stderr === "string" ? stderr : expect.stringMatching(stderr),
  ]);
});

test("CONVOY_DEBUG=1 shows the stack of an unexpected error", async () => {
  const [code, , stderr] = await run(["broken"], { CONVOY_DEBUG: "1" });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/run\.test\.ts:\d+/)]);
});

test("help wins over everything else that is wrong", async () => {
  const help = `convoy ls: does ls

Usage: convoy ls [network] [flags]

Arguments:
  network   name or path of the network

Flags:
      --network <name|path>   the network, by name or by path
  -h, --help                  say what the command does
  -v, --version               print the version

Examples:
  convoy ls   list
`;
  for (const words of [
    ["ls", "-h"],
    ["ls", "--bogus", "--help"],
    ["help", "ls"],
    ["--help", "ls"],
  ]) {
    expect(await run(words)).toEqual([0, help, ""]);
  }
  const [code, root, nothing] = await run(["--help"]);
  expect([code, nothing]).toEqual([0, ""]);
  for (const { name } of TABLE) expect(root).toContain(`  ${name.padEnd(6)}   does ${name}\n`);
  expect(await run(["help"])).toEqual([0, root!, ""]);
});

test("the version, before or after a command", async () => {
  const version = [0, expect.stringMatching(/^convoy \d+\.\d+\.\d+\n$/), ""];
  expect(await run(["--version"])).toEqual(version);
  expect(await run(["-v"])).toEqual(version);
  expect(await run(["ls", "--version"])).toEqual(version);
});

/** From the words that were typed to an exit code: finds the command, parses strictly, runs it, reports failures. */
import { ConvoyError, EXIT_CODES, errnoOf, messageOf } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { isNetworkName, type Network, type NetworkQuestion, resolveNetwork } from "../network-name.ts";
import { VERSION } from "../version.ts";
import type { Command, CommandContext } from "./command.ts";
import { COMMAND_TABLE, DEFAULT_COMMAND, type TableRow } from "./command-table.ts";
import { formatCommandHelp, formatRootHelp } from "./help.ts";
import { networkExists, networkFlag } from "./network.ts";
import type { Output } from "./output.ts";
import { asksFor, commandPosition, type Parsed, parseArguments } from "./parse.ts";

export interface Surroundings extends Omit<NetworkQuestion, "explicit"> {
  readonly output: Output;
}

/** Runs one command line, without the program's name. Resolves to the exit code; never rejects. */
export async function runCommandLine(
  words: readonly string[],
  around: Surroundings,
  table: readonly TableRow[] = COMMAND_TABLE,
): Promise<number> {
  try {
    return await dispatch(words, around, table);
  } catch (error) {
    return reportFailure(error, around);
  }
}

async function dispatch(
  words: readonly string[],
  around: Surroundings,
  table: readonly TableRow[],
): Promise<number> {
  const at = commandPosition(words);
  const typed = at < 0 ? null : words[at]!;
  const rest = words.filter((_, index) => index !== at);
  if (typed === "help") return dispatch([...rest, "--help"], around, table);
  if (typed === null && asksFor("help", rest)) return printRootHelp(around.output, table);
  if (typed === null && asksFor("version", rest)) return printVersion(around.output);
  const name = typed ?? DEFAULT_COMMAND;
  const row = table.find((one) => one.name === name);
  if (row === undefined) throw unknownCommand(name, table);
  const command = (await row.load()).default;
  if (asksFor("help", rest)) return printCommandHelp(around.output, row, command);
  return runCommand(row, command, rest, around);
}

async function runCommand(
  row: TableRow,
  command: Command,
  words: readonly string[],
  around: Surroundings,
): Promise<number> {
  const parsed = parse(row, command, words);
  if (parsed.help) return printCommandHelp(around.output, row, command);
  if (parsed.version) return printVersion(around.output);
  const explicit = explicitNetwork(parsed, around);
  try {
    return await command.run({
      args: parsed.args as CommandContext["args"],
      json: parsed.args.json === true,
      output: around.output,
      env: around.env,
      home: around.home,
      cwd: around.cwd,
      network: () => networkOf(explicit, around),
    });
  } catch (error) {
    if (!(error instanceof ConvoyError) || error.next === null || error.code === "usage") throw error;
    const network = networkOf(explicit, around);
    if (error.code === "not-found" && isMissingByName(network)) {
      const { explainMissingNetwork } = await import("./missing-network.ts");
      throw await explainMissingNetwork(error, network.written, around);
    }
    throw new ConvoyError(error.code, error.message, nameNetwork(error.next, networkFlag(network)));
  }
}

/** Whether somebody typed the name of a network that is not there. */
function isMissingByName(network: Network): network is Network & { readonly written: string } {
  const { written, root } = network;
  return written !== null && isNetworkName(written) && !networkExists(root);
}

/** The command to type next, for the network that this one was about. */
function nameNetwork(next: string, flag: string): string {
  if (flag === "" || next.includes("--network") || next.startsWith("convoy init")) return next;
  return next.replace(/^convoy [a-z]+(?: [^\s,]+)*/, (command) => `${command}${flag}`);
}

function parse(row: TableRow, command: Command, words: readonly string[]): Parsed {
  try {
    return parseArguments(command.args, words);
  } catch (error) {
    if (!(error instanceof ConvoyError)) throw error;
    throw new ConvoyError(
      error.code,
      `${row.name}: ${error.message}`,
      error.next ?? `convoy ${row.name} --help`,
    );
  }
}

/** `--network`, or the positional `[network]` of the commands that have one; refused when they mean different folders. */
function explicitNetwork(parsed: Parsed, around: Surroundings): string | null {
  const { network: positional = null } = parsed.args;
  if (typeof positional !== "string") return parsed.network;
  if (
    parsed.network !== null &&
    networkOf(positional, around).root !== networkOf(parsed.network, around).root
  ) {
    throw new ConvoyError(
      "usage",
      `two networks are named: "${positional}" and --network "${parsed.network}"`,
    );
  }
  return positional;
}

function networkOf(explicit: string | null, around: Surroundings): Network {
  const network = resolveNetwork({ explicit, env: around.env, home: around.home, cwd: around.cwd });
  if ("problem" in network) throw new ConvoyError("usage", network.problem);
  return network;
}

function unknownCommand(typed: string, table: readonly TableRow[]): ConvoyError {
  const meant = nearest(
    typed,
    table.map((row) => row.name),
  );
  const hint = meant === null ? "" : `; did you mean ${meant}?`;
  return new ConvoyError(
    "usage",
    `unknown command "${typed}"${hint}`,
    `convoy ${meant ?? ""} --help`.replace("  ", " "),
  );
}

function printRootHelp({ out, colors }: Output, table: readonly TableRow[]): number {
  for (const line of formatRootHelp(table, colors.bold)) out(line);
  return 0;
}

function printCommandHelp({ out, colors }: Output, row: TableRow, command: Command): number {
  for (const line of formatCommandHelp(row, command, colors.bold)) out(line);
  return 0;
}

function printVersion({ out }: Output): number {
  out(`convoy ${VERSION}`);
  return 0;
}

/** One line for an expected failure and for an unexpected one; `CONVOY_DEBUG=1` adds the stack of the latter. */
export function reportFailure(error: unknown, { output, env }: Pick<Surroundings, "output" | "env">): number {
  if (error instanceof ConvoyError) {
    output.error(error.message, error.next);
    return EXIT_CODES[error.code];
  }
  const debug = env.CONVOY_DEBUG === "1";
  const expected = errnoOf(error) !== null;
  output.error(
    expected ? messageOf(error) : `unexpected error: ${messageOf(error)}`,
    debug || expected ? null : "set CONVOY_DEBUG=1 to see where it comes from",
  );
  if (debug && error instanceof Error && error.stack !== undefined) output.note(error.stack);
  return EXIT_CODES.failed;
}

/** `--help`, made from the same description that the command line is parsed with. */
import { type Cell, formatTable } from "../table.ts";
import { type Argument, type Arguments, COMMON_FLAGS, type Command, type Example } from "./command.ts";
import type { TableRow } from "./command-table.ts";

type Paint = (text: string) => string;
const plain: Paint = (text) => text;

/** Lines of `convoy <name> --help`. `heading` paints the section names. */
export function formatCommandHelp(row: TableRow, command: Command, heading: Paint = plain): string[] {
  const positionals = entriesOf(command.args, true).map(([name, one]) => [name, one.description]);
  return [
    `convoy ${row.name}: ${row.summary}`,
    "",
    `${heading("Usage:")} ${usageLine(row.name, command.args)}`,
    ...section(heading, "Arguments", positionals),
    ...section(heading, "Flags", [...flagRows(command.args), ...flagRows(COMMON_FLAGS)]),
    ...(command.details === undefined ? [] : ["", ...command.details]),
    ...section(heading, "Examples", exampleRows(command.examples)),
  ];
}

const ENVIRONMENT: Cell[][] = [
  ["CONVOY_NETWORK", "folder of the network, when no argument names one"],
  ["ST_ROOT", "the same, by the network's smalltalk/ folder"],
  ["CONVOY_HOST", "this machine's name, in place of the remembered one"],
  ["NO_COLOR", "no colours"],
  ["CONVOY_DEBUG", "1: unexpected errors show where they come from"],
];

/** Lines of `convoy --help`. */
export function formatRootHelp(rows: readonly TableRow[], heading: Paint = plain): string[] {
  const examples: Example[] = [
    { line: "convoy", what: "list the agents of the default network, as convoy ls" },
    { line: "convoy init --help", what: "what init does, with its flags and examples" },
  ];
  return [
    "convoy: keeps a fleet of coding agents running from a synced catalog",
    "",
    `${heading("Usage:")} convoy [command] [arguments] [flags]`,
    ...section(
      heading,
      "Commands",
      rows.map((row) => [row.name, row.summary]),
    ),
    ...section(heading, "Flags", flagRows(COMMON_FLAGS)),
    ...section(heading, "Environment", ENVIRONMENT),
    ...section(heading, "Examples", exampleRows(examples)),
  ];
}

function section(heading: Paint, title: string, rows: readonly (readonly Cell[])[]): string[] {
  return rows.length === 0 ? [] : ["", heading(`${title}:`), ...formatTable(rows, { indent: 2, gap: 3 })];
}

function exampleRows(examples: readonly Example[]): Cell[][] {
  return examples.map(({ line, what }) => [line, what]);
}

function entriesOf(described: Arguments, positional: boolean): [string, Argument][] {
  return Object.entries(described).filter(([, one]) => (one.type === "positional") === positional);
}

function flagRows(described: Arguments): Cell[][] {
  return entriesOf(described, false).map(([name, one]) => {
    if (one.type === "positional") return [];
    const letter = one.alias === undefined ? "    " : `-${one.alias}, `;
    const value = one.type === "boolean" ? "" : ` <${one.valueHint}>`;
    return [`${letter}--${name}${value}`, one.description + notes(one)];
  });
}

function notes(one: Argument): string {
  const parts: string[] = [];
  if (one.type === "enum") parts.push(one.options.join(", "));
  if (one.type !== "boolean" && one.multiple === true) parts.push("may be repeated");
  if (one.type !== "boolean" && one.required === true) parts.push("required");
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

/** `convoy add <role> --identity <id> [flags]` */
function usageLine(name: string, described: Arguments): string {
  const words = entriesOf(described, true).map(([one, definition]) => {
    const several = definition.type === "positional" && definition.multiple === true ? "…" : "";
    const required = definition.type === "positional" && definition.required === true;
    return required ? `<${one}>${several}` : `[${one}]${several}`;
  });
  const flags = entriesOf(described, false).flatMap(([one, definition]) =>
    definition.type !== "boolean" && definition.type !== "positional" && definition.required === true
      ? [`--${one} <${definition.valueHint}>`]
      : [],
  );
  return ["convoy", name, ...words, ...flags, "[flags]"].join(" ");
}

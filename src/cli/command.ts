/**
 * What a command is. Arguments are described in citty's vocabulary (`type`, `alias`, `valueHint`, …) with a few
 * stricter members; `parse.ts`, `help.ts` and the shell completions all read this one description.
 */
import type { BooleanArgDef, EnumArgDef, PositionalArgDef, StringArgDef } from "citty";
import type { Network } from "../network-name.ts";
import type { Output } from "./output.ts";

/** What shell completion offers for a value, after a look at the disk. `agent` is an identity, bus id or session id. */
export type Completes = "network" | "agent" | "identity" | "host" | "directory" | "file";

interface Described {
  /** One line, lower case, without a full stop. */
  readonly description: string;
}
interface TakesValue extends Described {
  readonly valueHint: string;
  readonly required?: true;
  /** May be given several times; the values come in the order typed. */
  readonly multiple?: true;
  readonly completes?: Completes;
  /** Values that shell completion offers; others are taken too. */
  readonly suggests?: readonly string[];
}
interface Letter {
  /** One letter: `-f`. */
  readonly alias?: string;
}

export type BooleanFlag = Omit<BooleanArgDef, "alias" | "default" | "required" | "negativeDescription"> &
  Described &
  Letter & { readonly type: "boolean" };

export type StringFlag = Omit<StringArgDef, "alias" | "default" | "required"> &
  TakesValue &
  Letter & { readonly type: "string" };

/** `seconds`: a decimal number. `count`: a whole number. */
export type NumberFlag = Omit<StringArgDef, "type" | "alias" | "default" | "required"> &
  TakesValue &
  Letter & { readonly type: "seconds" | "count"; readonly least: number; readonly multiple?: never };

/** `K=V`, given as `[K, V]`; K is a name that a shell can export, V may be empty. */
export type PairFlag = Omit<StringArgDef, "type" | "alias" | "default" | "required"> &
  TakesValue &
  Letter & { readonly type: "pair" };

export type EnumFlag = Omit<EnumArgDef, "alias" | "default" | "required" | "options"> &
  TakesValue &
  Letter & { readonly type: "enum"; readonly options: readonly string[] };

/** `multiple` only on the last one: it takes what is left, at least one when it is required. */
export type Positional = Omit<PositionalArgDef, "default" | "required" | "valueHint"> &
  Described & {
    readonly type: "positional";
    readonly required?: true;
    readonly multiple?: true;
    /** Whether `""` is a value. */
    readonly allowEmpty?: true;
    /** The words it can be; any when absent. */
    readonly options?: readonly string[];
    readonly completes?: Completes;
    /** Values that shell completion offers; others are taken too. */
    readonly suggests?: readonly string[];
  };

export type Argument = BooleanFlag | StringFlag | NumberFlag | PairFlag | EnumFlag | Positional;
export type Arguments = Readonly<Record<string, Argument>>;

type OneValue<A extends Argument> = A extends { type: "seconds" | "count" }
  ? number
  : A extends { type: "pair" }
    ? readonly [string, string]
    : A extends { type: "enum" | "positional"; options: readonly (infer O)[] }
      ? O
      : string;
type ValueOf<A extends Argument> = A extends { type: "boolean" }
  ? boolean
  : A extends { multiple: true }
    ? readonly OneValue<A>[]
    : A extends { required: true }
      ? OneValue<A>
      : OneValue<A> | null;
/** What `run` gets: `null` for a value that was not given, `[]` for none of several. */
export type ParsedArguments<A extends Arguments> = { readonly [K in keyof A]: ValueOf<A[K]> };

export interface CommandContext<A extends Arguments = Arguments> {
  readonly args: ParsedArguments<A>;
  /** `--json` was given. */
  readonly json: boolean;
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly home: string;
  /** Absolute. */
  readonly cwd: string;
  /** The network that is meant, whether or not it exists; throws a usage error for an impossible one. */
  network(): Network;
}

export interface Example {
  readonly line: string;
  /** What the line does, lower case, without a full stop. */
  readonly what: string;
}

/** A command as `parse.ts`, `help.ts` and `run.ts` see it, whatever its arguments. */
export interface Command {
  readonly args: Arguments;
  /** At least one. */
  readonly examples: readonly [Example, ...Example[]];
  /** More lines for `--help`, after the flags. */
  readonly details?: readonly string[];
  /** Resolves to the exit code (docs/exit-codes.md); expected failures are thrown as `ConvoyError`. */
  run(context: CommandContext): number | Promise<number>;
}

/** Ties the type of `run`'s arguments to their description. */
export function defineConvoyCommand<const A extends Arguments>(
  command: Omit<Command, "args" | "run"> & {
    readonly args: A;
    run(context: CommandContext<A>): number | Promise<number>;
  },
): Command {
  return command as unknown as Command;
}

/** The positional of commands that act on a whole network; `--network` says the same. */
export const NETWORK_ARGUMENT = {
  type: "positional",
  description: "name or path of the network",
  completes: "network",
} as const satisfies Positional;

/** The positional of commands that are about one agent. */
export const AGENT_ARGUMENT = {
  type: "positional",
  required: true,
  description: "identity, bus id or session id",
  completes: "agent",
} as const satisfies Positional;

export const JSON_FLAG = {
  type: "boolean",
  description: "print data for machines",
} as const satisfies BooleanFlag;

/** Flags that every command takes. */
export const COMMON_FLAGS = {
  network: {
    type: "string",
    valueHint: "name|path",
    description: "the network, by name or by path",
    completes: "network",
  },
  help: { type: "boolean", alias: "h", description: "say what the command does" },
  version: { type: "boolean", alias: "v", description: "print the version" },
} as const satisfies Arguments;

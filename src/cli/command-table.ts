/** Every command, in the order of `convoy --help`. Each is loaded only when it is typed. */
import type { Command } from "./command.ts";

export interface TableRow {
  readonly name: string;
  /** One line, lower case, without a full stop. */
  readonly summary: string;
  load(): Promise<{ readonly default: Command }>;
}

export const COMMAND_TABLE: readonly TableRow[] = [
  { name: "init", summary: "create a network's folders", load: () => import("./commands/init.ts") },
  {
    name: "env",
    summary: "print shell exports with which pty's own program sees a network",
    load: () => import("./commands/env.ts"),
  },
];

/** What `convoy` alone does. */
export const DEFAULT_COMMAND = "ls";

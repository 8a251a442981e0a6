import { HARNESS_NAMES, ROLES, STRATEGIES, TRANSPORTS } from "../../declaration.ts";
import { DECLARATION_EXTENSIONS } from "../../leftovers.ts";
import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    role: {
      type: "positional",
      required: true,
      suggests: ROLES,
      description: "chief-of-staff, supervisor, worker or technical-manager",
    },
    identity: { type: "string", valueHint: "id", required: true, description: "name of the agent" },
    host: {
      type: "string",
      valueHint: "h",
      completes: "host",
      description: "machine that runs it (this one)",
    },
    dir: {
      type: "string",
      valueHint: "path",
      description: "folder that it works in (<network>/worktrees/<id>)",
      completes: "directory",
    },
    harness: {
      type: "enum",
      valueHint: "h",
      options: HARNESS_NAMES,
      description: "its program, claude when not given",
    },
    bin: {
      type: "string",
      valueHint: "p",
      completes: "file",
      description: "binary in place of the harness's own",
    },
    model: { type: "string", valueHint: "m", description: "passed on as --model" },
    command: { type: "string", valueHint: "line", description: "run this shell line and no harness" },
    supervisor: {
      type: "string",
      valueHint: "id",
      completes: "identity",
      description: "agent that it reports to",
    },
    strategy: { type: "enum", valueHint: "s", options: STRATEGIES, description: "run on, or run once" },
    transport: { type: "enum", valueHint: "t", options: TRANSPORTS, description: "how messages reach it" },
    env: { type: "pair", valueHint: "K=V", multiple: true, description: "in its environment" },
    format: {
      type: "enum",
      valueHint: "f",
      options: DECLARATION_EXTENSIONS,
      description: "of the file, toml when not given",
    },
    "dry-run": { type: "boolean", description: "print the file, and write nothing" },
    force: { type: "boolean", description: "replace a file that is there" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy add worker --identity fabric --supervisor boss", what: "a claude in worktrees/fabric" },
    { line: "convoy add worker --identity docs --dir . --harness codex", what: "a codex in this folder" },
    { line: "convoy add worker --identity tick --command 'sleep 60'", what: "any other program" },
  ],
  details: [
    "It writes catalog/<host>/<id>/agent.toml and starts nothing; `convoy up` does.",
    "A relative --dir starts at the current folder and is written absolute. A quoted '~/…' or '$HOME/…'",
    "is written as it is: the home of the machine that runs the agent.",
  ],
  async run(context) {
    const { runAdd } = await import("../add.ts");
    const { "dry-run": dryRun, format, ...args } = context.args;
    return await runAdd({ ...args, dryRun, format: format ?? "toml" }, context);
  },
});

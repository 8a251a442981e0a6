import { HARNESS_NAMES } from "../../declaration.ts";
import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    dir: {
      type: "positional",
      required: true,
      multiple: true,
      completes: "directory",
      description: "folders to trust; relative ones start at the current folder",
    },
    harness: {
      type: "enum",
      valueHint: "h",
      options: HARNESS_NAMES,
      description: "whose settings to write, claude when not given",
    },
    "config-dir": {
      type: "string",
      valueHint: "d",
      completes: "directory",
      description: "folder of the settings, as CLAUDE_CONFIG_DIR or CODEX_HOME",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy pretrust .", what: "let claude start here without asking" },
    {
      line: "convoy pretrust ~/a ~/b --harness codex",
      what: "the same for codex and two folders, in one write",
    },
  ],
  details: [
    "`convoy up` does this by itself for every workspace that is declared. Real paths are written, and for a",
    "linked git worktree its main checkout too. What does not parse is left alone.",
  ],
  async run(context) {
    const { runPretrust } = await import("../pretrust.ts");
    return await runPretrust(context.args, context);
  },
});

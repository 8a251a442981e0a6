import { AGENT_ARGUMENT, defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: AGENT_ARGUMENT,
    full: { type: "boolean", description: "the scrollback too" },
    ansi: { type: "boolean", description: "as terminal output, with colours" },
    follow: { type: "boolean", alias: "f", description: "go on as it changes, until Ctrl-C" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy peek fabric", what: "what is on its screen now" },
    { line: "convoy peek fabric -f --ansi", what: "the same, live and in colour" },
    { line: "convoy peek box.fabric.ding", what: "its sidecar's screen, by session id" },
  ],
  details: [
    "Looking never disturbs it: nothing is typed and no size changes. To take its terminal: convoy attach.",
    "On a terminal -f draws the screen again as it changes; elsewhere it prints what comes.",
    "Of one that has ended it shows the last lines, and says how it ended.",
  ],
  async run(context) {
    const { runPeek } = await import("../peek.ts");
    return await runPeek(context.args, context);
  },
});

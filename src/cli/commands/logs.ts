import { AGENT_ARGUMENT, defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: AGENT_ARGUMENT,
    follow: { type: "boolean", alias: "f", description: "go on across its launches, until Ctrl-C" },
    lines: { type: "count", alias: "n", valueHint: "n", least: 0, description: "only the last n lines" },
    previous: { type: "boolean", description: "of the run before this one, and how it ended" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy logs fabric", what: "what it printed, as far back as its terminal remembers" },
    { line: "convoy logs fabric -f -n 20", what: "the last 20 lines, and what comes" },
    { line: "convoy logs fabric --previous", what: "why it died before it was started again" },
    { line: "convoy logs box.fabric.ding", what: "its sidecar's, by session id" },
  ],
  details: [
    "Of a run that has ended up to 200 lines are kept. While none runs, --previous shows the last one.",
  ],
  async run(context) {
    const { runLogs } = await import("../logs.ts");
    return await runLogs(context.args, context);
  },
});

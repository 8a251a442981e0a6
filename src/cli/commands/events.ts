import { AGENT_ARGUMENT, defineConvoyCommand, JSON_FLAG } from "../command.ts";

const { type, completes } = AGENT_ARGUMENT;

export default defineConvoyCommand({
  args: {
    agent: { type, completes, description: "only of this one: identity, bus id or session id" },
    follow: { type: "boolean", alias: "f", description: "go on with what comes, until Ctrl-C" },
    lines: { type: "count", alias: "n", valueHint: "n", least: 0, description: "only the last n events" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy events", what: "the last 50 events" },
    { line: "convoy events fabric -f", what: "what happens to one agent, as it happens" },
    { line: "convoy events --json", what: "all that are kept, one record a line" },
    { line: "convoy events box.fabric.ding -n 5", what: "its sidecar's last five, by session id" },
  ],
  details: [
    "Without -n: the last 50 for a person, all that are kept with --json. The log is rotated at 10 MB, three old ones",
    "are kept. An agent is found by what its events say: one that is long gone, too.",
  ],
  async run(context) {
    const { runEvents } = await import("../events.ts");
    return await runEvents(context.args, context);
  },
});

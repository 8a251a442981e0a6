import { AGENT_ARGUMENT, defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: AGENT_ARGUMENT,
    grace: { type: "seconds", valueHint: "s", least: 0, description: "seconds between TERM and KILL (5)" },
    json: JSON_FLAG,
  },
  examples: [{ line: "convoy restart fabric", what: "end it and start it again as it is declared now" }],
  details: [
    "It starts in the environment that this command is typed in, and with no failures counted.",
    "A parked agent is un-parked by it, a held one released.",
  ],
  async run(context) {
    const { runRestart } = await import("../restart.ts");
    return await runRestart(context.args, context);
  },
});

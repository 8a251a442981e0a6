import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";

export default defineConvoyCommand({
  args: {
    network: NETWORK_ARGUMENT,
    agent: {
      type: "string",
      valueHint: "id",
      multiple: true,
      completes: "agent",
      description: "end this agent only; may be given several times",
    },
    "dry-run": { type: "boolean", description: "say what would be ended, and change nothing" },
    grace: {
      type: "seconds",
      valueHint: "s",
      least: 0,
      description: "seconds between TERM and KILL, one for all (5)",
    },
    "including-self": { type: "boolean", description: "also the session that this is typed in, as the last" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy down --dry-run", what: "what would be ended" },
    { line: "convoy down", what: "end every agent of this network on this machine" },
    { line: "convoy down --agent fabric", what: "end one, and keep it from being started again" },
  ],
  details: [
    "What it ends is held: no supervisor starts it again until `convoy release`, or until `convoy up` is started.",
    "It works while a supervisor runs. Only `convoy restart` and retiring an agent end sessions too, by the same routine.",
  ],
  async run(context) {
    const { runDown } = await import("../down.ts");
    return await runDown(context.args, context);
  },
});

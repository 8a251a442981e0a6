import { AGENT_ARGUMENT, defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: AGENT_ARGUMENT,
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy forget fabric", what: "drop what is kept of an agent that has no declaration any more" },
  ],
  details: ["Refused while it runs, and while a file in the catalog declares it."],
  async run(context) {
    const { runForget } = await import("../forget.ts");
    return await runForget(context.args, context);
  },
});

import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: {
      type: "positional",
      multiple: true,
      completes: "agent",
      description: "identity, bus id or session id",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy release fabric", what: "let one agent that `convoy down` held run again" },
    { line: "convoy release", what: "lift every hold" },
  ],
  details: ["A running supervisor starts them at once; without one, `convoy up` does."],
  async run(context) {
    const { runRelease } = await import("../release.ts");
    return await runRelease(context.args, context);
  },
});

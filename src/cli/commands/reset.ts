import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: {
      type: "positional",
      multiple: true,
      completes: "agent",
      description: "identity, bus id or session id",
    },
    all: { type: "boolean", description: "every agent of this network" },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy reset fabric", what: "let a parked agent be tried again, with no failures counted" },
    { line: "convoy reset --all", what: "the same for every agent" },
  ],
  async run(context) {
    const { runReset } = await import("../reset.ts");
    return await runReset(context.args, context);
  },
});

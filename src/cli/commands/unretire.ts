import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    id: {
      type: "positional",
      required: true,
      completes: "agent",
      description: "identity, bus id or session id",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy unretire fabric", what: "let it run again" },
    { line: "convoy unretire box.fabric --json", what: "the same by its bus id, the file as JSON" },
  ],
  details: [
    "It edits the one member `retired` of the declaration; comments, order and layout stay as they are.",
  ],
  async run(context) {
    const { runRetire } = await import("../retire.ts");
    return await runRetire(context.args.id, false, context);
  },
});

import { AGENT_ARGUMENT, defineConvoyCommand } from "../command.ts";

export default defineConvoyCommand({
  args: { agent: AGENT_ARGUMENT },
  examples: [
    { line: "convoy attach fabric", what: "sit down at it" },
    { line: "convoy attach box.fabric.ding", what: "at its sidecar, by session id" },
  ],
  details: [
    "Ctrl-\\ detaches and leaves it running; pressed twice, it goes to the program. So does every other key.",
    "With several attached, the smallest terminal is the program's size. To look without touching: convoy peek.",
    "Exits with the program's own code when it ends, with 0 on a detach; TERM, INT, HUP and QUIT detach too.",
    "Input that is no terminal is typed as it comes; its end does not detach. Output that is none gets the bytes alone.",
  ],
  async run(context) {
    const { runAttach } = await import("../attach.ts");
    return await runAttach(context.args.agent, context);
  },
});

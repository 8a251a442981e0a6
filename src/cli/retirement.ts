/** The two commands that edit the member `retired`: one description. */
import { AGENT_ARGUMENT, type Command, defineConvoyCommand, type Example, JSON_FLAG } from "./command.ts";

/** The command that sets `retired` to this. */
export function retirement(retired: boolean, examples: readonly [Example, ...Example[]]): Command {
  return defineConvoyCommand({
    args: { id: AGENT_ARGUMENT, json: JSON_FLAG },
    examples,
    details: [
      "It edits the one member `retired` of the declaration; comments, order and layout stay as they are.",
    ],
    async run(context) {
      const { runRetire } = await import("./retire.ts");
      return await runRetire(context.args.id, retired, context);
    },
  });
}

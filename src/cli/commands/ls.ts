import { listDocument } from "../../agent-state.ts";
import { readSupervisor } from "../../registry/supervisor-lock.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";
import { printList } from "../list-output.ts";
import { lookAt } from "../look.ts";
import { networkFlag } from "../network.ts";

export default defineConvoyCommand({
  args: { network: NETWORK_ARGUMENT, json: JSON_FLAG },
  examples: [
    { line: "convoy ls", what: "the default network's; `convoy` alone does the same" },
    { line: "convoy ls work --json | jq .agents", what: "the same for machines" },
  ],
  async run(context) {
    const { paths, world, decision } = await lookAt(context);
    const list = listDocument(world, decision, readSupervisor(paths)?.pid ?? null);
    if (context.json) context.output.document(list);
    else printList(list, world, networkFlag(context.network()), context.output);
    return 0;
  },
});

import { basename } from "node:path";
import { createNetwork } from "../../registry/network.ts";
import { networkPaths } from "../../system/paths.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";
import { networkFlag } from "../network.ts";

export default defineConvoyCommand({
  args: { network: NETWORK_ARGUMENT, json: JSON_FLAG },
  examples: [
    { line: "convoy init", what: "the default network, in ~/.local/state/convoy/default" },
    { line: "convoy init work", what: "a network called work, beside it" },
    { line: "convoy init ./net", what: "a network in a folder of your choice" },
  ],
  run({ network, json, output }) {
    const meant = network();
    const created = createNetwork(networkPaths(meant.root)).map((path) => basename(path));
    if (json) {
      output.document({ network: meant.root, created });
      return 0;
    }
    const flag = networkFlag(meant);
    output.out(meant.root);
    output.note(
      created.length === 0
        ? "Nothing to create: all four folders are there."
        : `Created ${created.join(", ")}.`,
    );
    output.note("Next, declare an agent and start it:");
    output.note(`  convoy add worker --identity my-agent${flag}`);
    output.note(`  convoy up${flag}`);
    return 0;
  },
});

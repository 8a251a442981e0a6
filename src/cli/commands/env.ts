import { quoteForShell } from "../../harness.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";
import { requireNetwork } from "../network.ts";

export default defineConvoyCommand({
  args: { network: NETWORK_ARGUMENT, json: JSON_FLAG },
  examples: [
    { line: 'eval "$(convoy env)"', what: "let pty's own program see the default network" },
    { line: "convoy env work --json", what: "the same variables as JSON" },
  ],
  run({ network, json, output }) {
    const { root, smalltalk, pty } = requireNetwork(network());
    const variables = {
      ST_ROOT: smalltalk,
      PTY_ROOT: pty,
      PTY_SESSION_DIR: pty,
      PTY_ROOT_LEGACY_SILENT: "1",
      CONVOY_NETWORK: root,
    };
    if (json) output.document(variables);
    else
      for (const [name, value] of Object.entries(variables))
        output.out(`export ${name}=${quoteForShell(value)}`);
    return 0;
  },
});

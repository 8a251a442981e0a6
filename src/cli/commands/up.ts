import { ConvoyError } from "../../errors.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";
import { networkFlag } from "../network.ts";

export default defineConvoyCommand({
  args: {
    network: NETWORK_ARGUMENT,
    once: { type: "boolean", description: "one pass and out" },
    interval: {
      type: "seconds",
      valueHint: "s",
      least: 0.1,
      description: "seconds between passes when nothing happens (30)",
    },
    "fast-fail-window": {
      type: "seconds",
      valueHint: "s",
      least: 1,
      description: "an agent that ends within so many seconds failed (60)",
    },
    "fast-fail-limit": {
      type: "count",
      valueHint: "n",
      least: 1,
      description: "so many failures in a row park an agent (3)",
    },
    "keep-holds": { type: "boolean", description: "leave held what `convoy down` held (for service units)" },
    wait: {
      type: "boolean",
      description: "while another supervisor holds the network, wait for it to end (for service units)",
    },
    detach: {
      type: "boolean",
      description: "supervise in the background, log in <network>/pty/.convoy/up.log",
    },
    "on-event": {
      type: "string",
      valueHint: "cmd",
      completes: "file",
      description: "run with the event's JSON on stdin when an agent dies, fails to start or is parked",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy up", what: "supervise the default network; Ctrl-C leaves its agents running" },
    { line: "convoy up work --detach", what: "the same in the background" },
    { line: "convoy up --once --json", what: "one pass, its events as JSON Lines" },
  ],
  details: [
    "Agents outlive it: Ctrl-C, a closed terminal, an upgrade or a crash ends none of them. `convoy down` does.",
    "--detach returns when the first pass has started what it can, after ten seconds at most, and says what runs.",
    "Starting it lifts the holds that `convoy down` left; --once and --keep-holds respect them.",
  ],
  async run(context) {
    const { args } = context;
    if (args.once && args.detach)
      throw new ConvoyError("usage", "up: --once and --detach exclude each other", "convoy up --help");
    if (args.wait && args.detach)
      throw new ConvoyError("usage", "up: --wait and --detach exclude each other", "convoy up --help");
    const network = context.network();
    const { runUp } = await import("../up.ts");
    return await runUp(
      {
        network: network.root,
        networkFlag: networkFlag(network),
        once: args.once,
        detach: args.detach,
        keepHolds: args["keep-holds"],
        wait: args.wait,
        intervalMs: (args.interval ?? 30) * 1_000,
        fastFailWindow: args["fast-fail-window"],
        fastFailLimit: args["fast-fail-limit"],
        onEvent: args["on-event"],
        json: context.json,
      },
      context,
    );
  },
});

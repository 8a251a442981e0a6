import { SERVICE_MANAGERS } from "../../service.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";

export const SERVICE_ACTIONS = ["install", "uninstall", "status", "print"] as const;

export default defineConvoyCommand({
  args: {
    action: {
      type: "positional",
      required: true,
      options: SERVICE_ACTIONS,
      description: "install, uninstall, status or print",
    },
    network: NETWORK_ARGUMENT,
    interval: { type: "seconds", valueHint: "s", least: 0.1, description: "as of convoy up" },
    "fast-fail-window": { type: "seconds", valueHint: "s", least: 1, description: "as of convoy up" },
    "fast-fail-limit": { type: "count", valueHint: "n", least: 1, description: "as of convoy up" },
    "on-event": { type: "string", valueHint: "cmd", completes: "file", description: "as of convoy up" },
    "no-linger": { type: "boolean", description: "install: do not ask for lingering" },
    "dry-run": { type: "boolean", description: "install, uninstall: say what would be done" },
    manager: {
      type: "enum",
      valueHint: "m",
      options: SERVICE_MANAGERS,
      description: "print: for this one (the one of this machine)",
    },
    json: JSON_FLAG,
  },
  examples: [
    {
      line: "convoy service install",
      what: "supervise the default network from boot on, as a user's service",
    },
    { line: "convoy service install --dry-run", what: "what that would do" },
    { line: "convoy service status work", what: "whether the service of the network work does, and its log" },
    { line: "convoy service print --manager launchd", what: "the property list that macOS would get" },
    { line: "convoy service uninstall", what: "take it away; its agents run on" },
  ],
  details: [
    "Stopping, restarting, upgrading or removing the service ends no agent. A network has one service of its own.",
    "It records this shell's PATH and what says where things are, no credential: those go into the shell file that",
    "status names, read at each start. Installing again takes the PATH and the flags anew, and mends what has moved.",
    "status exits with 1 when the service is not installed, or does not supervise as it should.",
  ],
  async run(context) {
    const { runService } = await import("../service.ts");
    const { args } = context;
    return await runService(
      {
        action: args.action,
        linger: !args["no-linger"],
        dryRun: args["dry-run"],
        manager: args.manager,
        supervision: {
          intervalSeconds: args.interval,
          fastFailWindow: args["fast-fail-window"],
          fastFailLimit: args["fast-fail-limit"],
          onEvent: args["on-event"],
        },
      },
      context,
    );
  },
});

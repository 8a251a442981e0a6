/** A look at a network by a command that changes nothing: the world, and what a pass would decide about it. */
import { decide } from "../decide.ts";
import type { ConvoyEvent } from "../events.ts";
import { observe } from "../supervisor/observe.ts";
import type { PassSettings } from "../supervisor/ports.ts";
import type { NetworkPaths } from "../system/paths.ts";
import type { Decision, World } from "../world.ts";
import type { CommandContext } from "./command.ts";
import { requireNetwork } from "./network.ts";
import { createPorts, createSettings, type NetworkPorts } from "./wiring.ts";

export interface Look {
  readonly paths: NetworkPaths;
  readonly ports: NetworkPorts;
  readonly settings: PassSettings;
  readonly world: World;
  readonly decision: Decision;
}

/** Throws "not-found" for a network that is not there. What a command then does is told to `show`. */
export async function lookAt(
  context: Pick<CommandContext, "network" | "env" | "home" | "output">,
  show: (event: ConvoyEvent) => void = () => {},
): Promise<Look> {
  const paths = requireNetwork(context.network());
  const wiring = {
    paths,
    env: context.env,
    home: context.home,
    show,
    record: true,
    onLogProblem: context.output.warn,
  };
  const ports = createPorts(wiring);
  const settings = createSettings(wiring);
  const world = await observe(ports, settings, "timer");
  return { paths, ports, settings, world, decision: decide(world) };
}

/** The ways in which a supervisor that is a service ends, under the user manager of systemd where one answers. */
import { homedir } from "node:os";
import process from "node:process";
import { runProgram } from "../service/program.ts";
import { lookAtUnit } from "../service/systemd.ts";
import { serviceName } from "../service.ts";
import { effect } from "../system/effects.ts";
import type { Way } from "./survive.ts";
import type { ThrowAway } from "./throwaway.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function serviceWays(env: Environment): readonly Way[] {
  const systemctl = (verb: string) => async (network: ThrowAway) => {
    await runProgram(["systemctl", "--user", verb, unitOf(network)], env);
    effect("service-change");
  };
  const ways = {
    "its service restarted": systemctl("restart"),
    "its service stopped": systemctl("stop"),
    "its service removed": uninstall,
  };
  return Object.entries(ways).map(([name, end]) => {
    return { name, start: async (network) => await startService(network, env, end) };
  });
}

async function startService(
  network: ThrowAway,
  env: Environment,
  end: (network: ThrowAway) => Promise<void>,
) {
  if (process.platform !== "linux") return "tried with systemd only";
  const run = await lookAtUnit(unitOf(network), env);
  if ("problem" in run) return run.problem;
  const { code, problem } = await network.convoy("service", "install", "--no-linger");
  if (code !== 0) return `convoy service install: ${problem}`;
  return { end: () => end(network), after: () => uninstall(network) };
}

async function uninstall(network: ThrowAway): Promise<void> {
  await network.convoy("service", "uninstall");
}

function unitOf({ root }: ThrowAway): string {
  return `${serviceName(root, homedir())}.service`;
}

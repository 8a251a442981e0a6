/** What launchd says of an agent. */
import { NO_SUCH_AGENT, NOT_LOADED, parseAgentState } from "../launchd-state.ts";
import type { ServiceRun } from "../service-status.ts";
import { faultOf, runProgram } from "./program.ts";

export async function lookAtAgent(
  label: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ServiceRun | { readonly problem: string }> {
  const words = ["launchctl", "print", `gui/${process.getuid?.() ?? 0}/${label}`];
  const answer = await runProgram(words, env);
  if ("problem" in answer) return answer;
  if (answer.code === NO_SUCH_AGENT) return NOT_LOADED;
  if (answer.code !== 0) return { problem: `launchd does not answer: ${faultOf(words, answer)}` };
  return parseAgentState(answer.stdout);
}

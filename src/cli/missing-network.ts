/** What to say when the named network that somebody typed is not there: what they may have meant. */
import { basename, dirname } from "node:path";
import { findDeclaration } from "../declared-agents.ts";
import { ConvoyError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { namedNetworksFolder, resolveNetwork } from "../network-name.ts";
import type { CommandContext } from "./command.ts";
import { readDeclared } from "./declared.ts";
import { networkExists } from "./network.ts";
import { listNetworkNames } from "./networks.ts";

type Around = Pick<CommandContext, "env" | "home" | "cwd">;

const MOST_NAMES = 10;

/**
 * `error`, which says that there is no network called `name`, with more to go by: the agent of that name, the network
 * of a name like it, or those that there are.
 */
export async function explainMissingNetwork(
  error: ConvoyError,
  name: string,
  around: Around,
): Promise<ConvoyError> {
  const owner = await networkOfAgent(name, around);
  if (owner !== null)
    return more(error, `${name} is an agent of the network ${owner}`, `convoy peek ${name}`);
  const names = listNetworkNames(around);
  const meant = nearest(name, names);
  if (meant !== null) return more(error, `did you mean ${meant}?`, `convoy ls --network ${meant}`);
  if (names.length === 0) return error;
  const rest = names.length > MOST_NAMES ? ", …" : "";
  return more(error, `networks here: ${names.slice(0, MOST_NAMES).join(", ")}${rest}`, error.next);
}

function more({ code, message }: ConvoyError, what: string, next: string | null): ConvoyError {
  return new ConvoyError(code, `${message}; ${what}`, next);
}

/** The network that a command without a network is about, when an agent of that name is declared in it. */
async function networkOfAgent(name: string, around: Around): Promise<string | null> {
  const network = resolveNetwork({ ...around, explicit: null });
  if ("problem" in network || !networkExists(network.root)) return null;
  const { catalog, inForce } = await readDeclared({ ...around, network: () => network }, { settleMs: 0 });
  if (findDeclaration(name, catalog, inForce).kind === "unknown") return null;
  const { root } = network;
  return dirname(root) === namedNetworksFolder(around) ? basename(root) : root;
}

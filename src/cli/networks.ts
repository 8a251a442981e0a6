/** Which named networks there are on this machine. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { isNetworkName, type NetworkQuestion, namedNetworksFolder } from "../network-name.ts";
import { networkExists } from "./network.ts";

/** Their names, sorted. Throws a `ConvoyError` when the folder that they are in cannot be listed. */
export function listNetworkNames(question: Pick<NetworkQuestion, "env" | "home">): string[] {
  const folder = namedNetworksFolder(question);
  return namesIn(folder)
    .filter((name) => isNetworkName(name) && networkExists(join(folder, name)))
    .sort();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new ConvoyError("failed", `cannot list ${folder}: ${messageOf(error)}`);
  }
}

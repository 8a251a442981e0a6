/** Questions about a network's folder on the disk. */
import { statSync } from "node:fs";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { quoteForShell } from "../harness.ts";
import type { Network } from "../network-name.ts";
import { type NetworkPaths, networkPaths } from "../system/paths.ts";

/** The paths of a network that exists: its folder has a catalog or a registry. Else `not-found`, nothing created. */
export function requireNetwork(network: Network): NetworkPaths {
  const paths = networkPaths(network.root);
  if (networkExists(network.root)) return paths;
  const named =
    network.source === "argument" || network.source === "default" ? "" : ` (from $${network.source})`;
  throw new ConvoyError(
    "not-found",
    `no network at ${network.root}${named}`,
    `convoy init ${shellWord(network.written ?? network.root)}`,
  );
}

/** Whether the folder `root` has a catalog or a registry. Throws "failed" when that may not be looked at. */
export function networkExists(root: string): boolean {
  const paths = networkPaths(root);
  // The registry first: where it is, a catalog that may not be looked at hinders nobody.
  return isFolder(paths.pty) || isFolder(paths.catalog);
}

/** ` --network <n>` for a command to type next; nothing when that command would find the same network by itself. */
export function networkFlag({ written }: Network): string {
  return written === null ? "" : ` --network ${shellWord(written)}`;
}

function shellWord(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : quoteForShell(text);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new ConvoyError("failed", `cannot look at ${path}: ${messageOf(error)}`);
  }
}

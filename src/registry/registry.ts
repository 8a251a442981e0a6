/** The registry of one network, as a pass uses it. */
import type { Ledger } from "../ledger.ts";
import type { NetworkPaths } from "../system/paths.ts";
import { changeLedger } from "./changes.ts";
import { changeHolds, type Hold, readHolds } from "./holds.ts";
import { type RegistryContent, readRegistry, readUnlisted } from "./read.ts";
import { patchTags } from "./tags.ts";

/** Registry of the network with these paths. Nothing is read or written before a method is called. */
export function createRegistry(paths: Pick<NetworkPaths, "pty" | "holds">) {
  return {
    read: (): Promise<RegistryContent> => readRegistry(paths.pty),
    readUnlisted: (names: readonly string[]) => readUnlisted(paths.pty, names),
    /** Throws a `ConvoyError` when the file is torn: what it held is not known, so nothing may be launched. */
    readHolds: async (): Promise<Readonly<Record<string, Hold>>> => readHolds(paths.holds),
    changeHolds: (change: (holds: Record<string, Hold>) => void) => changeHolds(paths.holds, change),
    changeLedger: (name: string, change: (ledger: Ledger | null) => Ledger | null) =>
      changeLedger(paths.pty, name, change),
    patchTags: (name: string, set: Readonly<Record<string, string>>, remove: readonly string[]) =>
      patchTags(paths.pty, name, set, remove),
  };
}

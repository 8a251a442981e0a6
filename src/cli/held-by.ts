/** The refusal of a second supervisor, the same for `up`, `up --once` and `up --detach`. */
import { ConvoyError } from "../errors.ts";
import type { NetworkPaths } from "../system/paths.ts";

/** Exit code 4; `pid` is null when the holder has not said who it is. */
export function heldByAnother(paths: NetworkPaths, pid: number | null): ConvoyError {
  const who = pid === null ? "another supervisor" : `the supervisor with pid ${pid}`;
  return new ConvoyError(
    "locked",
    `${who} holds ${paths.root}`,
    pid === null ? "convoy ls" : `convoy ls, or end it (its agents live on): kill ${pid}`,
  );
}

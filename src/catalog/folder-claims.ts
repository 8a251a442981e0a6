/** What a declaration's place in the catalog says about it: `<host>/<identity>/file`, and where the file disagrees. */
import { type Declaration, ROLES } from "../declaration.ts";
import { isHostName } from "../declaration-validate.ts";
import { shortHost } from "../identity.ts";
import type { Issue } from "../table-reader.ts";

const GROUPINGS: ReadonlySet<string> = new Set([
  ...ROLES,
  ...ROLES.map((role) => `${role}s`),
  "chiefs-of-staff",
]);

/**
 * The declaration with the host of its folder where the file names none, and a warning wherever the two disagree:
 * the file wins. `path` is relative to the catalog. A folder named for a role claims nothing.
 */
export function applyFolderClaims(
  declaration: Declaration,
  path: string,
): { readonly declaration: Declaration; readonly issues: readonly Issue[] } {
  const folders = path.split("/").slice(0, -1);
  const [hostFolder, identityFolder] = folders.slice(-2);
  if (hostFolder === undefined || identityFolder === undefined) return { declaration, issues: [] };
  const issues: Issue[] = [];
  const warn = (member: string, message: string): void => {
    issues.push({ severity: "warning", path: [member], message });
  };
  if (!GROUPINGS.has(identityFolder.toLowerCase()) && identityFolder.toLowerCase() !== declaration.identity)
    warn(
      "identity",
      `identity is "${declaration.identity}", its folder says "${identityFolder}": the file counts`,
    );
  if (GROUPINGS.has(hostFolder.toLowerCase())) return { declaration, issues };
  const host = shortHost(hostFolder);
  if (declaration.host === null) {
    if (isHostName(host)) return { declaration: { ...declaration, host }, issues };
    warn(
      "identity",
      `no host is named, and its folder "${hostFolder}" cannot be one: it belongs to any machine that reads it`,
    );
  } else if (declaration.host !== host)
    warn("host", `host is "${declaration.host}", its folder says "${hostFolder}": the file counts`);
  return { declaration, issues };
}

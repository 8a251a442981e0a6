/** What a login of this user would have, for an agent started from an environment without it. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { BARE_PATH, type Login } from "../environment.ts";
import { errnoOf } from "../errors.ts";

/** A UTF-8 locale that every such system has. */
const LANG = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8";

/**
 * The user database's answer; without an entry for this user there is no shell and no name. `userInfo` of node:os is
 * no help here: this runtime's answers "unknown" for what the environment does not say.
 */
export function readLogin(home: string): Login {
  const user = parsePasswd(readPasswd(), process.getuid?.() ?? -1);
  return { home, user: user?.name ?? null, shell: user?.shell ?? null, path: BARE_PATH, lang: LANG };
}

/** The entry of a user id in the text of /etc/passwd (passwd(5)); an empty shell there is /bin/sh. */
export function parsePasswd(text: string, uid: number): { name: string; shell: string } | null {
  for (const line of text.split("\n")) {
    const [name = "", , id, , , , shell = ""] = line.split(":");
    if (name !== "" && id === String(uid)) return { name, shell: shell || "/bin/sh" };
  }
  return null;
}

/** Containers run without one; people of a directory service, and of Darwin, do not stand in it. */
function readPasswd(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch (error) {
    if (errnoOf(error) !== null) return "";
    throw error;
  }
}

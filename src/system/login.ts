/** What a login of this user would have, for an agent started from an environment without it. */
import { userInfo } from "node:os";
import process from "node:process";
import { BARE_PATH, type Login } from "../environment.ts";

/** A UTF-8 locale that every such system has. */
const LANG = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8";

/** The user database's answer; without an entry for this user there is no shell and no name. */
export function readLogin(home: string): Login {
  const user = readUser();
  return { home, user: user?.username ?? null, shell: user?.shell ?? null, path: BARE_PATH, lang: LANG };
}

function readUser(): { username: string; shell: string | null } | null {
  try {
    return userInfo();
  } catch (error) {
    // A numeric user without an entry: containers run like that.
    if (error instanceof Error) return null;
    throw error;
  }
}

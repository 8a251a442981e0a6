/**
 * What a login of this user would have, for an agent started from an environment without it. Read from the user
 * database itself: `userInfo` of this runtime repeats `USER` and `SHELL`, and says "unknown" where they are not set.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { BARE_PATH, type Login } from "../environment.ts";
import { errnoOf } from "../errors.ts";

/** A UTF-8 locale that every such system has. */
const LANG = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8";
const USER_FILE = "/etc/passwd";

export interface UserEntry {
  readonly user: string;
  /** Null where the database names none. */
  readonly shell: string | null;
}

/**
 * The user database is asked only where `inherited` lacks a name or a shell; without an entry for this user (containers
 * run like that) there is neither.
 */
export function readLogin(home: string, inherited: Readonly<Record<string, string | undefined>>): Login {
  const entry = inherited.USER && inherited.SHELL ? null : readEntry(process.getuid?.() ?? 0);
  return { home, user: entry?.user ?? null, shell: entry?.shell ?? null, path: BARE_PATH, lang: LANG };
}

/** The line of `uid` in the user database's own format; the first field is the name, the last the shell. */
export function parseUserEntry(text: string, uid: number): UserEntry | null {
  for (const line of text.split("\n")) {
    const fields = line.split(":");
    const [user = "", , id] = fields;
    if (fields.length < 7 || user === "" || id !== String(uid)) continue;
    return { user, shell: fields.at(-1) || null };
  }
  return null;
}

function readEntry(uid: number): UserEntry | null {
  return parseUserEntry(readUserFile(), uid) ?? parseUserEntry(askDirectory(uid), uid);
}

function readUserFile(): string {
  try {
    return readFileSync(USER_FILE, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** People who are in a directory service and not in the file: every person on Darwin. */
function askDirectory(uid: number): string {
  const command =
    process.platform === "darwin" ? ["id", "-P", String(uid)] : ["getent", "passwd", String(uid)];
  try {
    return Bun.spawnSync(command, { stdin: "ignore", stderr: "ignore" }).stdout.toString();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

/** This user's name in the user database; the number where it has none. */
export function userName(): string {
  const uid = process.getuid?.() ?? 0;
  return readEntry(uid)?.user ?? String(uid);
}

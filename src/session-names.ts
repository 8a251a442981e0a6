/** Whether the session ids of a declaration can be registry names and sockets on every machine. */
import { join } from "node:path";
import { isSessionName, MAX_SOCKET_PATH_BYTES } from "./identity.ts";

export interface SocketPath {
  readonly path: string;
  readonly bytes: number;
}

/** The longest socket path among these sessions, in bytes of UTF-8; null when there are none. */
export function longestSocketPath(network: string, names: readonly string[]): SocketPath | null {
  let longest: SocketPath | null = null;
  for (const name of names) {
    const path = join(network, "pty", `${name}.sock`);
    const bytes = Buffer.byteLength(path, "utf8");
    if (longest === null || bytes > longest.bytes) longest = { path, bytes };
  }
  return longest;
}

/** What is wrong with the longest socket path, with the size, the allowance and both remedies; null when it fits. */
export function socketPathProblem(network: string, names: readonly string[]): string | null {
  const longest = longestSocketPath(network, names);
  if (longest === null || longest.bytes <= MAX_SOCKET_PATH_BYTES) return null;
  const excess = longest.bytes - MAX_SOCKET_PATH_BYTES;
  return (
    `socket path ${longest.path} has ${longest.bytes} bytes, at most ${MAX_SOCKET_PATH_BYTES} are possible: ` +
    `take a name that is ${excess} shorter, or a network in a shorter path`
  );
}

/** Everything wrong with the session ids that one declaration compiles to, a line each. */
export function sessionNameProblems(network: string, names: readonly string[]): string[] {
  const problems: string[] = [];
  for (const name of new Set(names)) {
    if (!isSessionName(name)) {
      problems.push(`"${name}" is not a session id: letters, digits, ".", "_" and "-" only`);
    }
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      problems.push(`two tasks have the session id "${name}": give one of them another \`id\``);
    }
  }
  const tooLong = socketPathProblem(network, names);
  return tooLong === null ? problems : [...problems, tooLong];
}

/**
 * Names: hosts, identities, bus ids, session ids.
 * Grammar of the published agent-spec format and of pty's session names (docs/disk-layout.md).
 */

/** Words the message bus keeps for itself; never an identity. */
export const RESERVED_IDENTITIES: ReadonlySet<string> = new Set(
  "inbox archive resources status name offline available busy away dnd unknown members agents overview context".split(
    " ",
  ),
);

const IDENTITY = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const SESSION_NAME = /^[a-zA-Z0-9._-]+$/;

/** Most bytes a session's socket path may have: Darwin's 104 with the final NUL, held to everywhere. */
export const MAX_SOCKET_PATH_BYTES = 103;

/** First label of a host name, lower case. `Box.example.com` is `box`. */
export function shortHost(name: string): string {
  const dot = name.indexOf(".");
  return (dot < 0 ? name : name.slice(0, dot)).toLowerCase();
}

/** What is wrong with an identity, or null when it may be one. */
export function identityProblem(value: string): string | null {
  if (value === "") return "is empty";
  if (RESERVED_IDENTITIES.has(value)) return `"${value}" is a word the message bus keeps for itself`;
  if (IDENTITY.test(value)) return null;
  return `"${value}" is not an identity: lower-case letters, digits, "." and "-", starting and ending with a letter or digit`;
}

/** Whether pty's registry takes this as a session name. */
export function isSessionName(value: string): boolean {
  return SESSION_NAME.test(value) && value !== "." && value !== "..";
}

/** `<host>.<identity>`: the join key between what is declared and what runs. */
export function busIdOf(host: string, identity: string): string {
  return `${shortHost(host)}.${identity}`;
}

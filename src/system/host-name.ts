/** What the operating system calls this machine. */
import { hostname } from "node:os";
import { shortHost } from "../identity.ts";

/** First label of the machine's own name, lower case; `localhost` when it has none. */
export function systemHostName(): string {
  return shortHost(hostname()) || "localhost";
}

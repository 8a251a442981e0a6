/** What one look at a session's files, its socket and the process table gave; `liveness.ts` judges it. */
import type { Ledger } from "./ledger.ts";
import type { TagsPatch } from "./lost-tags.ts";
import type { Identification, ProcessIdentity, SessionRecord } from "./session.ts";

/** A file as it was found: usable, not there, or there and not usable. */
export type Found<T> =
  | { readonly state: "read"; readonly value: T }
  | { readonly state: "missing" }
  | { readonly state: "unusable" };

/** What a connection to the session's socket gave. */
export type SocketAnswer =
  | {
      readonly state: "answered";
      readonly hostPid: number | null;
      readonly childPid: number | null;
      /** Whether it is a session host of convoy that answers. */
      readonly convoy: boolean;
    }
  /** Somebody may be there: no answer in time, another's answer, or no right to connect. */
  | { readonly state: "silent" }
  /** Nobody listens at that path. It proves no death: another program may have taken the socket away. */
  | { readonly state: "absent" }
  | { readonly state: "not-probed" };

/** What the process table holds that bears this session's marks but stands in no ledger. */
export type Strays =
  | { readonly state: "not-searched" }
  /** Processes exist that may not be looked at. */
  | { readonly state: "cannot-tell" }
  | {
      readonly state: "searched";
      readonly host: ProcessIdentity | null;
      readonly child: ProcessIdentity | null;
      /** The host that pty's program has started for a session of this name. */
      readonly ptyHost: ProcessIdentity | null;
      readonly ptyChildPid: number | null;
    };

/** Everything that is known of one session at one moment. */
export interface SessionFacts {
  readonly name: string;
  readonly record: Found<SessionRecord>;
  readonly ledger: Found<Ledger>;
  /** Content of `<name>.pid`. */
  readonly pidFile: Found<number>;
  /** Whether a socket stands at `<name>.sock`. */
  readonly socketFile: boolean;
  /** Whether that is another file than the one that the ledger says its host has bound. */
  readonly socketReplaced: boolean;
  readonly socket: SocketAnswer;
  /** The ledger's host and child in the process table, boot compared; null where the ledger names none. */
  readonly host: Identification | null;
  readonly child: Identification | null;
  /** False when the ledger is of another boot (by its file's age, when unusable): whatever ran under it is gone. */
  readonly sameBoot: boolean;
  /** Whether some process has the pid that `.pid` or `daemonPid` names; a pid is no identity, so never "ours". */
  readonly namedHost: "exists" | "gone" | "none";
  readonly strays: Strays;
  /** Whether a living process holds the session's launch lock. */
  readonly launching: boolean;
  readonly agent: string | null;
  /** Convoy's own tags that another writer has undone in the record, unknowingly. */
  readonly lostTags: TagsPatch;
}

/** What a listing says of an agent beside its state: why, and the command to type next. */
import { type AgentRow, NO_DECLARATION } from "./agent-state.ts";
import { OUTSIDE } from "./decide.ts";

export interface AgentNote {
  /** One line; "" when the state says it all. */
  readonly text: string;
  /** The command to type next, without the network; null when there is none. */
  readonly command: string | null;
}

/** The note for one row of `ls`. */
export function agentNote(row: AgentRow): AgentNote {
  return row.reason === NO_DECLARATION ? undeclared(row) : declared(row);
}

function undeclared({ identity, state, status }: AgentRow): AgentNote {
  if (state === "unknown") return { text: `${NO_DECLARATION}; cannot tell whether it lives`, command: null };
  if (state === "held") return { text: NO_DECLARATION, command: `convoy release ${identity}` };
  const verb = status === "running" ? "down --agent" : "forget";
  return { text: NO_DECLARATION, command: `convoy ${verb} ${identity}` };
}

function declared({ identity, state, status, reason, changed, host }: AgentRow): AgentNote {
  const restart = `convoy restart ${identity}`;
  const down = `convoy down --agent ${identity}`;
  switch (state) {
    case "running":
      if (reason.startsWith(OUTSIDE)) return { text: "outside convoy's host", command: restart };
      return changed ? { text: "changed", command: restart } : { text: "", command: null };
    case "orphaned":
      return { text: "no session host", command: restart };
    case "flapping":
      return { text: "", command: `convoy reset ${identity}` };
    case "held":
      if (status === "running") return { text: "still runs", command: down };
      return { text: "", command: `convoy release ${identity}` };
    case "elsewhere":
      return status === "running"
        ? { text: `now on ${host}, runs here`, command: down }
        : { text: `on ${host}`, command: null };
    case "starting":
    case "done":
      return { text: "", command: null };
    case "exited":
    case "vanished":
    case "waiting":
    case "conflict":
    case "unknown":
    case "retired":
      return { text: reason, command: null };
  }
}

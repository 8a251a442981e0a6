/** `ls` for a person: problems, a line per agent and per other task, nobody's sessions, the supervisor. */
import { type AgentNote, agentNote } from "../agent-note.ts";
import type { AgentRow, AgentState, ListDocument, SessionRow } from "../agent-state.ts";
import { count } from "../count.ts";
import { formatElapsed } from "../elapsed.ts";
import { type Cell, formatTable } from "../table.ts";
import type { World } from "../world.ts";
import type { Colors } from "./colors.ts";
import type { Output } from "./output.ts";
import { printProblems } from "./plan-output.ts";

const HEADER = ["AGENT", "STATE", "PID", "SINCE", "RESTARTS", "NOTE"];
const UNDECLARED_HEADER = ["UNDECLARED", "STATUS", "PID", "COMMAND"];
const RIGHT = [2, 3, 4];
const NONE = "-";

const PAINTS: Readonly<Record<AgentState, keyof Colors>> = {
  running: "green",
  starting: "cyan",
  exited: "yellow",
  vanished: "yellow",
  held: "yellow",
  waiting: "yellow",
  flapping: "red",
  conflict: "red",
  unknown: "red",
  orphaned: "red",
  retired: "dim",
  elsewhere: "dim",
  done: "dim",
};

/** `networkFlag` is what a command to type needs behind its name to reach the same network. */
export function printList(list: ListDocument, world: World, networkFlag: string, output: Output): void {
  printFaults(list, networkFlag, output);
  const notes = list.agents.map(agentNote);
  printAgents(list, notes, world, output);
  printUndeclared(list, output);
  printSupervisor(list, networkFlag, output);
  const commands = notes.some(({ command }) => command !== null) || list.agents.some(hasParkedTask);
  if (networkFlag !== "" && commands) {
    output.note(`The commands above need${networkFlag}.`);
  }
}

function hasParkedTask({ session, sessions }: AgentRow): boolean {
  return sessions.some(({ name, state }) => name !== session && state === "flapping");
}

/** Errors and what is wrong with the registry, each; the catalog's warnings by number: `validate` has them. */
function printFaults({ problems }: ListDocument, networkFlag: string, output: Output): void {
  const said = problems.filter(({ severity, path }) => severity === "error" || path.startsWith("pty/"));
  printProblems({ problems: said }, output);
  const warnings = problems.length - said.length;
  if (warnings === 0) return;
  output.note(`${count(warnings, "warning")}: convoy validate${networkFlag}`);
}

function printAgents(list: ListDocument, notes: readonly AgentNote[], world: World, output: Output): void {
  if (list.agents.length === 0) {
    output.note(`No agent is declared in ${list.network}/catalog.`);
    output.note("  convoy add worker --identity my-agent");
    return;
  }
  const since = sinceOf(world);
  const rows = list.agents.flatMap((row, index) => [
    agentCells(row, notes[index]!, since, output.colors),
    ...row.sessions
      .filter(({ name }) => name !== row.session)
      .map((session) => sessionCells(session, row.identity, since, output.colors)),
  ]);
  for (const line of formatTable([HEADER, ...rows], { width: output.width, right: RIGHT })) output.out(line);
}

function agentCells(
  row: AgentRow,
  { text, command }: AgentNote,
  since: (session: string | null) => string,
  colors: Colors,
): Cell[] {
  return [
    row.identity,
    stateCell(row.state, colors),
    cellOf(row.pid),
    since(row.session),
    String(row.restarts),
    [text, command].filter((part) => part !== null && part !== "").join("; "),
  ];
}

/** A task beside the main one; the agent runs, so what to type about a parked one stands here. */
function sessionCells(
  row: SessionRow,
  identity: string,
  since: (session: string) => string,
  colors: Colors,
): Cell[] {
  const parts = [
    ...(row.exitCode === null ? [] : [`exit code ${row.exitCode}`]),
    ...(row.state === "flapping" ? [`convoy reset ${identity}`] : []),
  ];
  const note = parts.join("; ");
  return [`  ${row.task}`, stateCell(row.state, colors), cellOf(row.pid), since(row.name), "", note];
}

function stateCell(state: AgentState, colors: Colors): Cell {
  return { text: state, paint: colors[PAINTS[state]] };
}

function cellOf(pid: number | null): string {
  return pid === null ? NONE : String(pid);
}

/** How long a session has been what it is: since its start while it lives, since its end afterwards. */
function sinceOf(world: World): (session: string | null) => string {
  const sessions = new Map(world.sessions.map((session) => [session.name, session]));
  return (name) => {
    const session = sessions.get(name ?? "");
    const at = session?.processAlive === true ? session.createdAt : session?.exitedAt;
    const elapsedMs = world.now.getTime() - Date.parse(at ?? "");
    return Number.isNaN(elapsedMs) ? NONE : formatElapsed(elapsedMs);
  };
}

function printUndeclared({ undeclared }: ListDocument, output: Output): void {
  if (undeclared.length === 0) return;
  output.out("");
  const rows = undeclared.map(({ session, status, pid, command }) => [session, status, cellOf(pid), command]);
  for (const line of formatTable([UNDECLARED_HEADER, ...rows], { width: output.width, right: [2] })) {
    output.out(line);
  }
}

function printSupervisor({ supervisor, network }: ListDocument, networkFlag: string, output: Output): void {
  output.out("");
  if (supervisor !== null) output.out(`Supervised by pid ${supervisor.pid}: ${network}`);
  else output.out(`No supervisor runs; to start one: convoy up${networkFlag}`);
}

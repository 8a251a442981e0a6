/** The answer to a STATUS question (docs/protocol.md): what is known at this moment, null for what is not. */
import type { Size } from "../protocol.ts";
import type { ProcessResources } from "../system/resources.ts";
import type { TerminalModes } from "../terminal-modes.ts";
import type { XtermScreen } from "./xterm-screen.ts";

export interface StatusFacts {
  readonly name: string;
  readonly size: Size;
  /** Null when no emulator is loaded. */
  readonly screen: Pick<XtermScreen, "cursor" | "lineCounts"> | null;
  readonly modes: TerminalModes;
  /** Null before the program has been started. */
  readonly pid: number | null;
  /** Null while the program runs. */
  readonly exitCode: number | null;
  readonly hostPid: number;
  readonly clients: { readonly total: number; readonly attached: number; readonly readOnly: number };
  /** Seconds since the program was started; null before. */
  readonly uptimeSeconds: number | null;
  readonly createdAt: string;
  readonly convoy: Readonly<Record<string, unknown>>;
}

/** As an object; `resourcesOf` looks at a living process. */
export function describeStatus(
  facts: StatusFacts,
  resourcesOf: (pid: number) => ProcessResources | null,
): Record<string, unknown> {
  const { name, size, screen, modes, pid, exitCode, hostPid, clients, uptimeSeconds, createdAt } = facts;
  const alive = pid !== null && exitCode === null;
  return {
    name,
    terminal: { ...size, ...describeScreen(screen) },
    process: { alive, exitCode, pid, resources: alive ? resourcesOf(pid) : null },
    daemon: { pid: hostPid, resources: resourcesOf(hostPid) },
    clients,
    modes: {
      sgrMouse: modes.isSet(1006) === true,
      cursorHidden: modes.isSet(25) === false,
      kittyKeyboard: modes.kittyFlags > 0,
      kittyKeyboardFlags: modes.kittyStack,
      applicationCursor: modes.isSet(1) === true,
    },
    uptimeSeconds: alive ? uptimeSeconds : null,
    createdAt,
    convoy: facts.convoy,
  };
}

/** Rows and columns from 0, and the shown buffer's lines. */
function describeScreen(screen: StatusFacts["screen"]): Record<string, number | null> {
  if (screen === null)
    return { cursorX: null, cursorY: null, scrollbackUsed: null, scrollbackCapacity: null };
  const { row, col } = screen.cursor();
  const { used, capacity } = screen.lineCounts();
  return { cursorX: col - 1, cursorY: row - 1, scrollbackUsed: used, scrollbackCapacity: capacity };
}

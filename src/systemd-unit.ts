/**
 * A service as a unit of systemd's user manager. Its quoting (systemd.syntax, systemd.service, systemd.exec): words in
 * double quotes, C escapes, `%%` for a percent sign, and in a command line `$$` for a dollar sign.
 */
import { readServiceCommand, type Service, serviceCommand } from "./service.ts";

/** By which a unit is known as convoy's own. */
export const UNIT_MARK = "# Written by `convoy service install`";

/**
 * The unit's text. `KillMode=process` and `OOMPolicy=continue` are what the agents live by: they are in the unit's
 * control group, and only the supervisor is ever signalled.
 */
export function formatUnit(service: Service): string {
  const environment = Object.entries(service.environment).map(([name, value]) => `${name}=${value}`);
  return [
    `${UNIT_MARK}, and anew by the next one. Your own settings belong in`,
    "# a drop-in (systemctl --user edit), variables for the agents in the shell file that ExecStart names.",
    "[Unit]",
    `Description=convoy supervises ${service.network.replaceAll("%", "%%").replaceAll("\\", "\\\\")}`,
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${serviceCommand(service).map(quoteForExec).join(" ")}`,
    ...environment.map((assignment) => `Environment=${quote(assignment)}`),
    "SyslogIdentifier=convoy",
    "Restart=always",
    "RestartSec=5",
    "TimeoutStopSec=30",
    "KillMode=process",
    "OOMPolicy=continue",
    "TasksMax=infinity",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** The service of a unit that `formatUnit` wrote; null for any other text. */
export function parseUnit(text: string): Service | null {
  const lines = text.split("\n");
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
  const [exec, ...others] = valuesOf("ExecStart");
  if (exec === undefined || others.length > 0) return null;
  const command = unquote(exec);
  const assignments = valuesOf("Environment").map((value) => unquote(value));
  if (command === null || assignments.some((words) => words?.length !== 1)) return null;
  const environment: Record<string, string> = {};
  for (const [assignment = ""] of assignments as string[][]) {
    const equals = assignment.indexOf("=");
    if (equals < 1) return null;
    environment[assignment.slice(0, equals)] = assignment.slice(equals + 1);
  }
  return readServiceCommand(
    command.map((word) => word.replaceAll("$$", "$")),
    environment,
  );
}

function quote(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%");
  return `"${escaped}"`;
}

function quoteForExec(text: string): string {
  return quote(text.replaceAll("$", "$$$$"));
}

/** The words of a line in which each is in double quotes; null when it is not of that form. */
function unquote(line: string): string[] | null {
  if (!/^"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*$/.test(line)) return null;
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replaceAll("%%", "%").replaceAll(/\\(.)/g, "$1"),
  );
}

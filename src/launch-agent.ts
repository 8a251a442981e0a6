/**
 * A service as an agent of launchd: a property list (launchd.plist). `AbandonProcessGroup` is what the agents live by:
 * launchd then signals the supervisor alone. `ProcessType` keeps it from throttling what the supervisor starts.
 */
import { readServiceCommand, type Service, serviceCommand } from "./service.ts";

type Value = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Seconds between two starts, at least; as a unit of systemd waits. */
const THROTTLE_SECONDS = 5;

/** By which a property list is known as convoy's own. */
export const LAUNCH_AGENT_MARK = "<!-- Written by `convoy service install`, and anew by the next one. -->";

/** The text of the property list. `label` is the service's name, `log` a file for what the supervisor prints. */
export function formatLaunchAgent(service: Service, label: string, log: string): string {
  const members: Record<string, Value> = {
    Label: label,
    ProgramArguments: serviceCommand(service),
    EnvironmentVariables: service.environment,
    RunAtLoad: true,
    KeepAlive: true,
    ThrottleInterval: THROTTLE_SECONDS,
    AbandonProcessGroup: true,
    ProcessType: "Interactive",
    StandardOutPath: log,
    StandardErrorPath: log,
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    LAUNCH_AGENT_MARK,
    '<plist version="1.0">',
    ...dictionary(members),
    "</plist>",
    "",
  ].join("\n");
}

/** The service of a property list that `formatLaunchAgent` wrote; null for any other text. */
export function parseLaunchAgent(text: string): Service | null {
  const command = /<key>ProgramArguments<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(text)?.[1];
  const variables = /<key>EnvironmentVariables<\/key>\s*<dict>([\s\S]*?)<\/dict>/.exec(text)?.[1];
  if (command === undefined || variables === undefined) return null;
  const environment: Record<string, string> = {};
  for (const [, name = "", value = ""] of variables.matchAll(
    /<key>([^<]*)<\/key>\s*<string>([^<]*)<\/string>/g,
  ))
    environment[fromXml(name)] = fromXml(value);
  const words = [...command.matchAll(/<string>([^<]*)<\/string>/g)].map(([, word = ""]) => fromXml(word));
  return readServiceCommand(words, environment);
}

function dictionary(members: Readonly<Record<string, Value>>): string[] {
  const lines = Object.entries(members).flatMap(([name, value]) => [
    `<key>${toXml(name)}</key>`,
    ...formatValue(value),
  ]);
  return ["<dict>", ...lines.map((line) => `  ${line}`), "</dict>"];
}

function formatValue(value: Value): string[] {
  if (typeof value === "string") return [`<string>${toXml(value)}</string>`];
  if (typeof value === "number") return [`<integer>${value}</integer>`];
  if (typeof value === "boolean") return [value ? "<true/>" : "<false/>"];
  if (!Array.isArray(value)) return dictionary(value as Readonly<Record<string, string>>);
  return ["<array>", ...value.map((one) => `  <string>${toXml(one)}</string>`), "</array>"];
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function toXml(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!);
}

function fromXml(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt);/g, (entity) =>
    entity === "&amp;" ? "&" : entity === "&lt;" ? "<" : ">",
  );
}

/** The text of a new declaration in each of the three formats. */
import type { DeclarationExtension } from "./leftovers.ts";

/** The members of a new declaration, as they are written; absent ones are left out. */
export interface DeclarationFields {
  readonly role: string;
  readonly supervisor?: string;
  readonly workspace?: string;
  readonly harness?: string;
  readonly bin?: string;
  readonly model?: string;
  readonly transport?: string;
  readonly persona?: string;
  readonly strategy?: string;
  readonly retired?: boolean;
  readonly prefix?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A command line for an explicit `[pty.agent]` task. */
  readonly command?: string;
}

type Scalar = string | boolean;
/** At most three tables deep: `pty.agent.command`. */
type Members = { readonly [name: string]: Scalar | Members };

/** The object that the three formats spell: `host` first, tables last. */
export function declarationObject(host: string, identity: string, fields: DeclarationFields): Members {
  const { env, command, ...scalars } = fields;
  const written = Object.entries(scalars).filter(
    (entry): entry is [string, Scalar] => entry[1] !== undefined,
  );
  const tables: [string, Members][] = [];
  if (env !== undefined && Object.keys(env).length > 0) tables.push(["env", env]);
  if (command !== undefined) tables.push(["pty", { agent: { command } }]);
  return Object.fromEntries<Scalar | Members>([
    ["host", host],
    ["identity", identity],
    ...written,
    ...tables,
  ]);
}

/** The text of the file, with a final newline. Any string without a NUL or half a surrogate pair reads back as it was. */
export function formatDeclaration(
  extension: DeclarationExtension,
  host: string,
  identity: string,
  fields: DeclarationFields,
): string {
  const members = declarationObject(host, identity, fields);
  switch (extension) {
    case "toml":
      return formatToml(members, []);
    case "kdl":
      return formatKdl(members, "");
    case "json":
      return `${JSON.stringify(members, null, 2)}\n`;
  }
}

function formatToml(members: Members, path: readonly string[]): string {
  const entries = Object.entries(members);
  const lines = entries.flatMap(([name, value]) =>
    typeof value === "object" ? [] : [`${tomlKey(name)} = ${tomlValue(value)}\n`],
  );
  const header = path.length > 0 && lines.length > 0 ? `\n[${path.map(tomlKey).join(".")}]\n` : "";
  const tables = entries.map(([name, value]) =>
    typeof value === "object" ? formatToml(value, [...path, name]) : "",
  );
  return header + lines.join("") + tables.join("");
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlValue(name);
}

function tomlValue(value: Scalar): string {
  if (typeof value === "boolean") return String(value);
  return quoted(value, (code) => (code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`));
}

function formatKdl(members: Members, indent: string): string {
  const lines = Object.entries(members).map(([name, value]) => {
    if (typeof value !== "object") return `${indent}${kdlName(name)} ${kdlValue(value)}\n`;
    const [only, ...more] = Object.entries(value);
    // `pty "agent" { … }`: the form in which the format's own examples name a task.
    if (only !== undefined && more.length === 0 && typeof only[1] === "object")
      return `${indent}${kdlName(name)} ${kdlValue(only[0])} {\n${formatKdl(only[1], `${indent}    `)}${indent}}\n`;
    return `${indent}${kdlName(name)} {\n${formatKdl(value, `${indent}    `)}${indent}}\n`;
  });
  return lines.join("");
}

/** Bare only where no rule of KDL could make it a number or a keyword. */
function kdlName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !/^(?:true|false|null|inf|nan)$/.test(name)
    ? name
    : kdlValue(name);
}

function kdlValue(value: Scalar): string {
  if (typeof value === "boolean") return value ? "#true" : "#false";
  return quoted(value, (code) => `\\u{${code.toString(16)}}`);
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Double-quoted; what is not plain to see (controls, odd line ends, direction marks) goes through `escapeCode`. */
function quoted(text: string, escapeCode: (code: number) => string): string {
  const body = text.replace(
    /["\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => SHORT_ESCAPES[character] ?? escapeCode(character.codePointAt(0)!),
  );
  return `"${body}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

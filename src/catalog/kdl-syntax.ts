/** KDL as it is written: the text with one member changed. */
import { type Document, getLocation, type Node, parse } from "@bgotink/kdl";

/**
 * Spellings of the text with `retired` set, best first: its value replaced; else a new line after `role` or
 * `identity`; else a node on that same line; inside the lone `agent` node when the file is written so.
 */
export function kdlWithRetired(text: string, retired: boolean): string[] {
  const document = parse(text, { storeLocations: true });
  const [only] = document.nodes;
  const agent = document.nodes.length === 1 && only?.getName() === "agent" ? only : null;
  const value = `#${retired}`;

  const property = agent?.entries.findLast((entry) => entry.getName() === "retired");
  const body: Document | null = agent === null ? document : agent.children;
  const node = body?.nodes.find((child) => child.getName() === "retired");
  const written = property ?? node?.entries.find((entry) => !entry.isProperty());
  const range = written === undefined ? undefined : getLocation(written.value);
  if (range !== undefined) {
    const [start, end] = [range.start.offset, range.end.offset];
    const annotation = /^\([^()]*\)\s*/.exec(text.slice(start, end))?.[0] ?? "";
    return [text.slice(0, start) + annotation + value + text.slice(end)];
  }
  if (node !== undefined) return [];

  const anchor =
    body?.nodes.findLast((child) => ["identity", "role"].includes(child.getName())) ?? body?.nodes.at(-1);
  if (anchor !== undefined) return afterNode(text, anchor, `retired ${value}`);
  return agent === null ? [] : asProperty(text, agent, ` retired=${value}`);
}

function afterNode(text: string, anchor: Node, member: string): string[] {
  const location = getLocation(anchor);
  if (location === undefined) return [];
  const { start, end } = location;
  const lineStart = text.lastIndexOf("\n", start.offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))![0];
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const sameLine = `${text.slice(0, end.offset)}; ${member}${text.slice(end.offset)}`;

  const rest = /^[ \t]*;?[ \t]*(?:\/\/[^\r\n]*)?(\r?\n|$)/.exec(text.slice(end.offset));
  const alone = lineStart + indent.length === start.offset;
  if (rest === null || !alone) return [sameLine];
  const at = end.offset + rest[0].length;
  const line = rest[1] === "" ? `${newline}${indent}${member}` : `${indent}${member}${newline}`;
  return [text.slice(0, at) + line + text.slice(at), sameLine];
}

/** After the last argument or property of an `agent` node without members of its own. */
function asProperty(text: string, agent: Node, property: string): string[] {
  const last = agent.entries.at(-1);
  const end = last === undefined ? undefined : getLocation(last)?.end.offset;
  return end === undefined ? [] : [text.slice(0, end) + property + text.slice(end)];
}

/** KDL 2 to the object that the agent-spec format maps it to. */
import { type Document, getLocation, InvalidKdlError, type Node, parse } from "@bgotink/kdl";
import { messageOf } from "../errors.ts";
import type { ObjectPath } from "../table-reader.ts";
import { type Decoding, Positions } from "./decoding.ts";

/** A node that the mapping has no object for. */
class UnmappedNode extends Error {
  readonly node: Node;

  constructor(node: Node, message: string) {
    super(message);
    this.node = node;
  }
}

/** `text` without a byte order mark. */
export function decodeKdl(text: string): Decoding {
  try {
    const document = parse(text, { storeLocations: true });
    const positions = new Positions();
    const value = documentValue(document, positions);
    const agents = document.nodes.filter((node) => node.getName() === "agent" && node.children !== null);
    const hint =
      agents.length > 0 && document.nodes.length > 1
        ? "declares nothing: an `agent` node counts only when it is alone in its file"
        : null;
    return { kind: "decoded", value, hint, positionOf: async (path) => positions.nearest(path) };
  } catch (error) {
    if (error instanceof UnmappedNode)
      return { kind: "undecodable", line: startOf(error.node)?.line ?? null, message: error.message };
    return { kind: "undecodable", ...syntaxError(error) };
  }
}

function syntaxError(error: unknown): { line: number | null; message: string } {
  // The parser wraps its own stack overflow, which is our reader's nesting limit.
  if (!(error instanceof InvalidKdlError) || error.message.includes("Maximum call stack"))
    return { line: null, message: `is not valid KDL: ${messageOf(error).split(", thi", 1)[0]}` };
  const first = [...error.flat()][0] ?? error;
  const reason = messageOf(first).replace(/ at \d+:\d+$/, "");
  return { line: first.start?.line ?? null, message: `is not valid KDL: ${reason}` };
}

function startOf(node: Node): { line: number; offset: number } | null {
  const start = getLocation(node)?.start;
  return start === undefined ? null : { line: start.line, offset: start.offset };
}

function documentValue(document: Document, positions: Positions): unknown {
  const [only] = document.nodes;
  if (only === undefined || document.nodes.length > 1 || only.getName() !== "agent")
    return membersOf([], document, [], positions);
  const start = startOf(only);
  if (start !== null) positions.add([], start);
  const args = argumentsOf(only);
  const body = membersOf(propertiesOf(only), only.children, [], positions);
  if (args.length === 0) return body;
  if (start !== null) positions.add(["identity"], start);
  if (args.length > 1) throw new UnmappedNode(only, "`agent` has more than one name");
  if (Object.hasOwn(body, "identity") && body.identity !== args[0])
    throw new UnmappedNode(only, "`agent` is named here and has another `identity` inside");
  return { identity: args[0], ...body };
}

type Value = string | number | boolean | null;

function argumentsOf(node: Node): Value[] {
  return node.entries.filter((entry) => !entry.isProperty()).map((entry) => entry.getValue());
}

/** Of a property written twice the last one counts. */
function propertiesOf(node: Node): [string, Value][] {
  return node.entries.flatMap((entry) => {
    const name = entry.getName();
    return name === null ? [] : [[name, entry.getValue()] as [string, Value]];
  });
}

interface Member {
  readonly value: unknown;
  /** The name inside, when the node was `pty "agent" { … }`. */
  readonly named: boolean;
}

/** Properties, then child nodes; a node that is repeated becomes a list, named ones become one table. */
function membersOf(
  properties: readonly [string, Value][],
  children: Document | null,
  path: ObjectPath,
  positions: Positions,
): Record<string, unknown> {
  const members = new Map<string, Member[]>(
    new Map(properties).entries().map(([name, value]) => [name, [{ value, named: false }]]),
  );
  const nodes = Map.groupBy(children?.nodes ?? [], (node) => node.getName());
  for (const [name, group] of nodes) {
    const before = members.get(name) ?? [];
    const listed = group.length + before.length > 1 && !group.every(isNamed);
    const found = group.map((node, index): Member => {
      const here = listed ? [...path, name, before.length + index] : [...path, name];
      const start = startOf(node);
      if (start !== null) {
        positions.add(here, start);
        positions.add([...path, name], start);
      }
      return { value: nodeValue(node, here, positions), named: isNamed(node) };
    });
    members.set(name, [...before, ...found]);
  }
  return Object.fromEntries(members.entries().map(([name, list]) => [name, joined(list)]));
}

function joined(list: readonly Member[]): unknown {
  if (list.length === 1) return list[0]!.value;
  if (!list.every((member) => member.named)) return list.map((member) => member.value);
  const byName = Map.groupBy(
    list.flatMap((member) => Object.entries(member.value as Record<string, unknown>)),
    ([name]) => name,
  );
  return Object.fromEntries(
    byName
      .entries()
      .map(([name, same]) => [name, same.length === 1 ? same[0]![1] : same.map(([, value]) => value)]),
  );
}

function hasBody(node: Node): boolean {
  return node.children !== null || node.entries.some((entry) => entry.isProperty());
}

/** `pty "agent" { … }`: one argument that names the body. */
function isNamed(node: Node): boolean {
  return hasBody(node) && argumentsOf(node).length === 1;
}

function nodeValue(node: Node, path: ObjectPath, positions: Positions): unknown {
  const args = argumentsOf(node);
  if (!hasBody(node)) return args.length > 1 ? args : (args[0] ?? null);
  if (args.length === 0) return membersOf(propertiesOf(node), node.children, path, positions);
  const [name] = args;
  if (args.length > 1 || typeof name !== "string")
    throw new UnmappedNode(node, `\`${node.getName()}\` has a body and must have at most one name before it`);
  const inner = [...path, name];
  const start = startOf(node);
  if (start !== null) positions.add(inner, start);
  return Object.fromEntries([[name, membersOf(propertiesOf(node), node.children, inner, positions)]]);
}

/** What a decoder makes of one file's text: a plain object and the way back from its members to the text. */
import type { ObjectPath } from "../table-reader.ts";

/** `line` counts from 1, `offset` in UTF-16 units from 0. */
export interface Position {
  readonly line: number;
  readonly offset: number;
}

export interface Decoded {
  readonly kind: "decoded";
  readonly value: unknown;
  /** Where a member is written, or the nearest thing around it; the first line when nothing is nearer. */
  positionOf(path: ObjectPath): Promise<Position>;
  /** Why a document that declares nothing may have been meant to, or null. */
  readonly hint: string | null;
}

/** The text breaks the rules of its format. */
export interface Undecodable {
  readonly kind: "undecodable";
  readonly line: number | null;
  readonly message: string;
}

export type Decoding = Decoded | Undecodable;

/** Positions by path. The first one written down for a path is kept. */
export class Positions {
  private readonly byPath = new Map<string, Position>();

  add(path: ObjectPath, position: Position): void {
    const key = JSON.stringify(path);
    if (!this.byPath.has(key)) this.byPath.set(key, position);
  }

  nearest(path: ObjectPath): Position {
    for (let length = path.length; length >= 0; length -= 1) {
      const found = this.byPath.get(JSON.stringify(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return { line: 1, offset: 0 };
  }
}

/** The line of `offset` in `text`, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

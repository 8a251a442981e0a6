/** The project's documents as tests read them: their code blocks, their links, the files and commands they name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

export interface CodeBlock {
  /** Line of the document at which it begins, from 1. */
  readonly line: number;
  /** Words behind the fence: the language first. */
  readonly info: string;
  readonly text: string;
}

export interface Document {
  /** Relative to the checkout. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
}

/** Every document of the checkout: those at its top and those under docs/. */
export function readDocuments(): Document[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const under = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  const paths = [...top, ...under.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
  return paths.sort().map(readDocument);
}

export function readDocument(path: string): Document {
  const text = readFileSync(join(ROOT, path), "utf8");
  const blocks = [...text.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)].map((found) => ({
    line: text.slice(0, found.index).split("\n").length,
    info: (found[1] ?? "").trim(),
    text: found[2] ?? "",
  }));
  return { path, text, blocks };
}

/** A command line of a `console` block with the output that is shown below it. */
export interface Shown {
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

/** The `$ ` lines of a block, each with what follows up to the next. A line that ends in `\` goes on in the next. */
export function shownCommands(block: CodeBlock): Shown[] {
  const shown: { line: number; command: string; output: string }[] = [];
  let open = false;
  for (const [index, text] of block.text.split("\n").entries()) {
    const last = shown.at(-1);
    if (open && last !== undefined) last.command += `\n${text}`;
    else if (text.startsWith("$ "))
      shown.push({ line: block.line + 1 + index, command: text.slice(2), output: "" });
    else if (last !== undefined) last.output += `${text}\n`;
    open = text.endsWith("\\") && (open || text.startsWith("$ "));
  }
  return shown.map((one) => ({ ...one, output: one.output.trimEnd() }));
}

/** The words of a simple shell command, quotes taken off; what comes behind `;`, `|`, `&`, `>` or `#` is left out. */
export function wordsOf(command: string): string[] {
  const words: string[] = [];
  const token = /\s*(?:(#.*|[;|&>][\s\S]*)|((?:'[^']*'|"[^"]*"|\\[\s\S]|[^\s'"\\;|&>])+))/gy;
  for (const [, end, word] of command.matchAll(token)) {
    if (end !== undefined) break;
    words.push(word!.replaceAll(/'([^']*)'|"([^"]*)"|\\\n|\\([\s\S])/g, (_, a, b, c) => a ?? b ?? c ?? ""));
  }
  return words.filter((word) => word !== "");
}

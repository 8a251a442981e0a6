/** The rules of ARCHITECTURE.md that a reader of import lines can check. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { COMMAND_TABLE } from "../src/cli/command-table.ts";
import { formatCommandHelp } from "../src/cli/help.ts";

const ROOT = join(import.meta.dir, "..");
const MOST_LINES = 300;
const HELP_COLUMNS = 120;
/** What a pure module may take from Node: nothing with effects. */
const PURE_NODE = ["node:path", "node:crypto", "node:util"];
/** What a room may import besides the core and itself. `cli` joins them all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  system: [],
  catalog: ["system"],
  registry: ["system"],
  "session-host": ["system"],
  "harness-files": ["system"],
  machine: ["system"],
  service: ["system"],
  workspace: ["system"],
  supervisor: ["system"],
};
/** The files of supervisor/ that signal and look at processes themselves. */
const ENDING = ["end.ts", "ender.ts", "process-scan.ts", "proof.ts"];
const IMPURE_CODE =
  /\bprocess\.|\bBun\.(?!stringWidth\b|stripANSI\b|CryptoHasher\b|deepEquals\b)|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.|\bset(?:Timeout|Interval|Immediate)\b|\bfetch\(|\bconsole\.|\brandom(?:UUID|Bytes|Int)\b|\bgetRandomValues\b/;

interface Source {
  /** Relative to the checkout. */
  readonly path: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  /** Specifiers as written. */
  readonly imports: readonly string[];
  /** Those of which more than types is imported. */
  readonly valueImports: readonly string[];
  /** The folder below src; "" for the pure core. */
  readonly room: string;
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), "utf8");
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  const specifiers = (of: string) =>
    [...of.matchAll(/(?:\bfrom|\bimport|\brequire\()\s*\(?\s*["']([^"']+)["']/g)].map((one) => one[1]!);
  const values = code.replaceAll(/^(?:import|export) type [^;]*;/gm, "");
  return {
    path,
    text,
    code,
    imports: specifiers(code),
    valueImports: specifiers(values),
    room: path.split("/").slice(1, -1)[0] ?? "",
  };
}

const listed = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readSource(`${folder}/${name}`));
const everything = [...listed("src"), ...listed("test")];
const sources = everything.filter(({ path }) => path.startsWith("src/") && !path.endsWith(".test.ts"));
const core = sources.filter(({ room }) => room === "");

/** Relative specifiers of a source, as paths from the checkout. */
function filesOf(source: Source, specifiers: readonly string[]): string[] {
  return specifiers
    .filter((one) => one.startsWith("."))
    .map((one) => normalize(join(dirname(source.path), one)));
}

test("there is something to check", () => {
  expect([core.length > 5, sources.length > core.length]).toEqual([true, true]);
});

test("the core imports itself and what has no effects, and of the system only types", () => {
  const wrong = core.flatMap(({ path, imports, valueImports }) =>
    imports
      .filter((one) => !one.startsWith("./system/") || valueImports.includes(one))
      .filter((one) => !/^\.\/[\w-]+\.ts$/.test(one) && one !== "../package.json")
      .filter((one) => /^(?:\.|node:|bun)/.test(one) && !PURE_NODE.includes(one))
      .map((one) => `${path} imports ${one}`),
  );
  expect(wrong).toEqual([]);
});

test("the core has no clock, no chance, no process and no files", () => {
  const wrong = core.flatMap(({ path, code }) => {
    const found = IMPURE_CODE.exec(code);
    return found === null ? [] : [`${path} uses ${found[0]}`];
  });
  expect(wrong).toEqual([]);
});

test("rooms do not know each other", () => {
  const wrong = sources
    .filter(({ room }) => room !== "" && room !== "cli")
    .flatMap((source) =>
      filesOf(source, source.imports)
        .map((path) => ({ path, room: path.split("/").slice(1, -1)[0] ?? "" }))
        .filter(({ room }) => room !== "" && room !== source.room && !MAY_IMPORT[source.room]?.includes(room))
        .map(({ path }) => `${source.path} imports ${path}`),
    );
  expect(wrong).toEqual([]);
  const rooms = new Set(sources.map(({ room }) => room));
  expect([...rooms].filter((room) => !["", "cli", ...Object.keys(MAY_IMPORT)].includes(room))).toEqual([]);
});

test("a pass acts through its ports alone; only the routine that ends sessions looks at processes", () => {
  const wrong = sources
    .filter(
      ({ room, path }) => room === "supervisor" && !ENDING.includes(path.slice("src/supervisor/".length)),
    )
    .flatMap((source) =>
      source.valueImports
        .filter((one) => /^node:(?!path$|crypto$)|^bun/.test(one) || one.startsWith("../system/"))
        .map((one) => `${source.path} imports ${one}`),
    );
  expect(wrong).toEqual([]);
});

test("imports in the core go one way: no module reaches itself", () => {
  const graph = new Map(core.map((source) => [source.path, filesOf(source, source.valueImports)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

test("every module can be read in one go", () => {
  const long = sources.filter(({ text }) => text.split("\n").length - 1 > MOST_LINES).map(({ path }) => path);
  expect(long).toEqual([]);
});

test("no failure is swallowed, and no test is left out", () => {
  const here = "test/architecture.test.ts";
  const wrong = everything
    .filter(({ path }) => path !== here)
    .flatMap(({ path, code }) => {
      const found =
        /\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|\.catch\(\(\)\s*=>\s*(?:\{\s*\}|undefined|null)\)|\b(?:test|it|describe)\.(?:only|skip|todo)\b/.exec(
          code,
        );
      return found === null ? [] : [`${path}: ${found[0]}`];
    });
  expect(wrong).toEqual([]);
});

test("every command says what it does, with an example of itself", async () => {
  for (const row of COMMAND_TABLE) {
    const command = (await row.load()).default;
    const { examples } = command;
    const wide = formatCommandHelp(row, command).filter((line) => line.length > HELP_COLUMNS);
    expect([row.name, ...wide]).toEqual([row.name]);
    expect([row.name, row.summary]).toEqual([row.name, expect.stringMatching(/^[a-z].*[^.]$/)]);
    expect([row.name, examples.some(({ line }) => line.includes(`convoy ${row.name}`))]).toEqual([
      row.name,
      true,
    ]);
  }
  const names = COMMAND_TABLE.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("no command takes a flag or a letter twice, and only the last positional takes several", async () => {
  for (const row of COMMAND_TABLE) {
    const { args } = (await row.load()).default;
    const letters = Object.values(args).flatMap((one) => ("alias" in one && one.alias ? [one.alias] : []));
    expect([row.name, ...letters]).toEqual([row.name, ...new Set(letters)]);
    expect(letters.filter((letter) => "hv".includes(letter))).toEqual([]);
    const positionals = Object.values(args).filter(({ type }) => type === "positional");
    const several = positionals.findIndex((one) => "multiple" in one && one.multiple === true);
    expect([row.name, several < 0 || several === positionals.length - 1]).toEqual([row.name, true]);
  }
});

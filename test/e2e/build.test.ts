/** scripts/build for other systems, in a copy of the checkout: what is made, and what is said where something cannot be. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../src/version.ts";
import { ROOT } from "../support/documents.ts";
import { missingPrograms, skippable } from "../support/skippable.ts";
import type { Ran } from "./binary.ts";

/** Six programs are made, and their runtimes fetched where they are not there yet. */
const BUILD_MS = 1_200_000;
const TARGETS = [
  "linux-x64",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
];
const NOWHERE = "http://127.0.0.1:9";

let checkout: string;
const dist = (name = "") => join(checkout, "dist", name);

beforeAll(() => {
  checkout = mkdtempSync("/tmp/cv-");
  for (const name of ["package.json", "bun.lock", "bunfig.toml", "tsconfig.json", "scripts", "src"])
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  mkdirSync(join(checkout, "node_modules"));
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== ".bun-targets")
      symlinkSync(join(ROOT, "node_modules", name), join(checkout, "node_modules", name));
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

async function build(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = Bun.spawn([join(checkout, "scripts/build"), ...words], {
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...more },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

const thisTarget = Bun.spawnSync([join(ROOT, "scripts/install"), "--print-target"])
  .stdout.toString()
  .trim();
const otherTarget = TARGETS.find((target) => target !== thisTarget)!;

/** What a program's first bytes say of it. */
function kindOf(path: string): string {
  const bytes = readFileSync(path).subarray(0, 4096);
  if (bytes.readUInt32BE(0) === 0xcffaedfe)
    return `darwin-${bytes.readUInt32LE(4) === 0x0100000c ? "arm64" : "x64"}`;
  expect(bytes.toString("latin1", 0, 4)).toBe("\x7fELF");
  const machine = bytes.readUInt16LE(18) === 0xb7 ? "arm64" : "x64";
  return `linux-${machine}${bytes.includes("/ld-musl-") ? "-musl" : ""}`;
}

function expectSumsOf(targets: readonly string[]): void {
  const sums = targets.map((target) => {
    const name = `convoy-${target}`;
    return `${new Bun.CryptoHasher("sha256").update(readFileSync(dist(name))).digest("hex")}  ${name}\n`;
  });
  expect(readFileSync(dist("SHA256SUMS"), "utf8")).toBe(sums.join(""));
}

test(
  "a target whose runtime cannot be fetched is one line, the others are made, and the exit code is 1",
  async () => {
    mkdirSync(dist(), { recursive: true });
    writeFileSync(dist(`convoy-${otherTarget}`), "of an earlier build");
    const cache = { BUN_CONFIG_REGISTRY: NOWHERE, BUN_INSTALL_CACHE_DIR: join(checkout, "cache") };
    const { code, stdout, stderr } = await build([otherTarget, thisTarget], cache);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^dist/convoy-${thisTarget}: convoy ${VERSION}, \\d+ MB\n$`)),
    ]);
    expect(stderr).toMatch(
      new RegExp(`^build: dist/convoy-${otherTarget} is not made: @oven/bun-\\S+ cannot be fetched: .*\n$`),
    );
    expect(existsSync(dist(`convoy-${otherTarget}`))).toBe(false);
    expectSumsOf([thisTarget]);
    expect(lstatSync(dist("install")).mode & 0o111).toBe(0o111);
  },
  BUILD_MS,
);

test(
  "every target is made and is a program for it, or is said not to be; the sums are of what was made",
  async () => {
    const { code, stdout, stderr } = await build(["--all"]);
    const made = [...stdout.matchAll(/^dist\/convoy-(\S+): (?:convoy \S+|not run), \d+ MB$/gm)].map(
      (row) => row[1]!,
    );
    const not = [...stderr.matchAll(/^build: dist\/convoy-(\S+) is not made: .*cannot be fetched: /gm)].map(
      (row) => row[1]!,
    );
    expect([...made, ...not].toSorted()).toEqual(TARGETS.toSorted());
    expect([code, stderr.split("\n").length - 1]).toEqual([not.length === 0 ? 0 : 1, not.length]);
    expect(made.map((target) => kindOf(dist(`convoy-${target}`)))).toEqual(made);
    expect(readdirSync(dist()).toSorted()).toEqual(
      ["SHA256SUMS", "install", ...made.map((target) => `convoy-${target}`)].toSorted(),
    );
    expectSumsOf(TARGETS.filter((target) => made.includes(target)));
  },
  BUILD_MS,
);

const ARM_ROOT = "/usr/aarch64-linux-gnu";
skippable(
  "the one for arm64 starts under an emulator",
  existsSync(ARM_ROOT) ? missingPrograms("qemu-aarch64-static") : `there is no ${ARM_ROOT}`,
  async () => {
    const { code, stderr } = await build(["linux-arm64"]);
    if (code !== 0) return expect(stderr).toContain("cannot be fetched");
    const words = ["qemu-aarch64-static", "-L", ARM_ROOT, dist("convoy-linux-arm64"), "--version"];
    const ran = Bun.spawnSync(words, { env: { PATH: process.env.PATH ?? "" } });
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([0, `convoy ${VERSION}\n`]);
  },
  BUILD_MS,
);

const alpine = process.env.ALPINE_ROOT ?? "";
skippable(
  "the one for musl starts in an Alpine root",
  existsSync(join(alpine, "lib/ld-musl-x86_64.so.1")) && alpine !== "" ? null : "ALPINE_ROOT names none",
  async () => {
    const { code, stdout, stderr } = await build(["linux-x64-musl"], { ALPINE_ROOT: alpine });
    if (code !== 0) return expect(stderr).toContain("cannot be fetched");
    expect(stdout).toStartWith(`dist/convoy-linux-x64-musl: convoy ${VERSION}, `);
  },
  BUILD_MS,
);

test("a target that there is not is wrong usage, and nothing is made", async () => {
  const { code, stdout, stderr } = await build(["linux-x64", "plan9"]);
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    `build: there is no target plan9; there are ${TARGETS.join(" ")}\n`,
  ]);
});

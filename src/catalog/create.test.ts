import { afterEach, beforeEach, expect, test } from "bun:test";
import {
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
import { DECLARATION_EXTENSIONS } from "../leftovers.ts";
import { type CreateDeclarationOptions, createDeclaration } from "./create.ts";
import { readCatalog } from "./read.ts";

let dir: string;
let catalogDir: string;
beforeEach(() => {
  dir = mkdtempSync("/tmp/cv-");
  catalogDir = join(dir, "catalog");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function create(options: Partial<CreateDeclarationOptions> = {}) {
  return createDeclaration({
    catalogDir,
    host: "Box.example.com",
    identity: "fabric",
    format: "toml",
    fields: { role: "worker", supervisor: "boss" },
    ...options,
  });
}

const TEXT = 'host = "box"\nidentity = "fabric"\nrole = "worker"\nsupervisor = "boss"\n';

test("a new declaration is written where its host and identity say", () => {
  expect(create()).toEqual({ kind: "created", path: "box/fabric/agent.toml", text: TEXT, warnings: [] });
  expect(readFileSync(join(catalogDir, "box/fabric/agent.toml"), "utf8")).toBe(TEXT);
});

test("a dry run says the same and writes nothing", () => {
  expect(create({ dryRun: true })).toEqual({
    kind: "would-create",
    path: "box/fabric/agent.toml",
    text: TEXT,
    warnings: [],
  });
  expect(existsSync(catalogDir)).toBe(false);
});

test("what is there is kept without force, also in another format", () => {
  create();
  expect(create({ dryRun: true })).toEqual({
    kind: "exists",
    path: "box/fabric/agent.toml",
    message: "box/fabric/agent.toml exists already; --force replaces it",
  });
  expect(create({ format: "kdl", force: true })).toEqual({
    kind: "exists",
    path: "box/fabric/agent.toml",
    message: "box/fabric/agent.toml exists already; --force replaces it only with --format toml",
  });
  expect(create({ force: true, fields: { role: "chief-of-staff" } })).toMatchObject({ kind: "created" });
  expect(readFileSync(join(catalogDir, "box/fabric/agent.toml"), "utf8")).toContain("chief-of-staff");
  expect(readdirSync(join(catalogDir, "box/fabric"))).toEqual(["agent.toml"]);
});

test("force writes through a link", () => {
  mkdirSync(join(catalogDir, "box/fabric"), { recursive: true });
  writeFileSync(join(dir, "mine.toml"), "");
  symlinkSync(join(dir, "mine.toml"), join(catalogDir, "box/fabric/agent.toml"));
  expect(create({ force: true }).kind).toBe("created");
  expect(lstatSync(join(catalogDir, "box/fabric/agent.toml")).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(dir, "mine.toml"), "utf8")).toBe(TEXT);
});

test("what would not be read back is not written", () => {
  expect(create({ identity: "Fabric", fields: { role: "workr" } })).toEqual({
    kind: "invalid",
    messages: [
      'identity "Fabric" is not an identity: lower-case letters, digits, "." and "-", starting and ending with a letter or digit',
      'role must be chief-of-staff, supervisor, worker or technical-manager, found the string "workr"; did you mean "worker"?',
    ],
  });
  expect(create({ identity: "../x" }).kind).toBe("invalid");
  expect(existsSync(catalogDir)).toBe(false);
});

test("a missing supervisor is a warning", () => {
  expect(create({ fields: { role: "worker" } })).toMatchObject({
    kind: "created",
    warnings: ["no supervisor is named: this worker reports to nobody"],
  });
});

test("a folder that cannot be made is a failure", () => {
  writeFileSync(catalogDir, "");
  expect(create()).toMatchObject({
    kind: "failed",
    message: expect.stringMatching(/^box\/fabric\/agent\.toml cannot be written: /),
  });
});

test("every format is read back from the catalog", async () => {
  for (const format of DECLARATION_EXTENSIONS)
    create({
      format,
      identity: `in-${format}`,
      fields: { role: "worker", supervisor: "boss", env: { A: "é\n" }, command: 'say "hi"' },
    });
  const reading = await readCatalog({ catalogDir, settleMs: 0 });
  expect(reading.problems).toEqual([]);
  expect(
    reading.files.map(({ path, entry }) => [
      path,
      entry?.declaration.host,
      entry?.declaration.env,
      entry?.declaration.tasks[0]?.command,
    ]),
  ).toEqual(
    [...DECLARATION_EXTENSIONS]
      .sort()
      .map((format) => [`box/in-${format}/agent.${format}`, "box", { A: "é\n" }, 'say "hi"']),
  );
});

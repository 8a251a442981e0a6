import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { missingPrograms, missingUnless } from "./skippable.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync("/tmp/cv-");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("one that is left out is neither passed nor failed, and its reason is said and kept", async () => {
  writeFileSync(
    join(folder, "a.test.ts"),
    `import { skippable } from ${JSON.stringify(join(import.meta.dir, "skippable.ts"))};
    skippable("runs", null, () => {});
    skippable("does not", "there is no moon", () => { throw new Error("it ran"); });`,
  );
  const [report, reasons] = ["report.xml", "reasons"].map((name) => join(folder, name));
  const words = ["test", "--reporter=junit", `--reporter-outfile=${report}`, "./a.test.ts"];
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, CONVOY_TEST_NOTES: reasons },
    stdout: "pipe",
    stderr: "ignore",
  });
  const said = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  const line = "skipped: does not: there is no moon\n";
  expect([said.includes(line), readFileSync(reasons!, "utf8")]).toEqual([true, line]);
  expect(readFileSync(report!, "utf8")).toMatch(/<testsuites [^>]*tests="2"[^>]* failures="0" skipped="1"/);
});

test("what is missing is said in a phrase", () => {
  expect(missingPrograms("sh")).toBeNull();
  expect(missingPrograms("no-such-one", "sh", "nor-this")).toBe("there is no no-such-one, no nor-this");
  expect(missingUnless(["true"], "x")).toBeNull();
  expect(missingUnless(["false"], "x")).toBe("x");
  expect(missingUnless(["no-such-one"], "x")).toBe("x");
});

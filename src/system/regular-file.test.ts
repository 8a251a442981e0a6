import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { errnoOf, messageOf } from "../errors.ts";
import { appendRegularFile, readRegularFile } from "./regular-file.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync("/tmp/cv-");
});
afterEach(() => rmSync(folder, { recursive: true }));

const mkfifo = (path: string) => Bun.spawnSync(["mkfifo", path]);
const KINDS: [string, (path: string) => unknown, string, string][] = [
  ["a pipe", mkfifo, "is not a regular file", "ENXIO"],
  ["a folder", (path) => mkdirSync(path), "is a directory", "EISDIR"],
  ["a device", (path) => symlinkSync("/dev/zero", path), "is not a regular file", "is not a regular file"],
];

test.each(KINDS)("%s is refused at once", (_, make, reading, appending) => {
  const path = `${folder}/x`;
  make(path);
  const saying = (run: () => unknown) => {
    try {
      return run();
    } catch (error) {
      return errnoOf(error) ?? messageOf(error);
    }
  };
  expect(saying(() => readRegularFile(path))).toBe(reading);
  expect(saying(() => appendRegularFile(path, "x"))).toBe(appending);
});

test("a file is read whole and appended to, made when missing; one that is huge is not read", () => {
  const path = `${folder}/x`;
  appendRegularFile(path, "a\n");
  appendRegularFile(path, "b\n");
  expect(readRegularFile(path)).toMatchObject({ text: "a\nb\n", stat: { size: 4 } });
  expect(readFileSync(path, "utf8")).toBe("a\nb\n");
  writeFileSync(`${folder}/huge`, "");
  truncateSync(`${folder}/huge`, 65 * 1024 * 1024);
  expect(() => readRegularFile(`${folder}/huge`)).toThrow("is over 64 MiB (68157440 bytes)");
});

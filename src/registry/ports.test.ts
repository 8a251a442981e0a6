import { expect, test } from "bun:test";
import type { SessionFiles } from "../session-host/ports.ts";
import type { RegistryPort } from "../supervisor/ports.ts";
import { networkPaths } from "../system/paths.ts";
import { createRegistry } from "./registry.ts";
import { createSessionFiles } from "./session-files.ts";

test("the adapters have the shape that their users declare", () => {
  const paths = networkPaths("/tmp/cv-none");
  const port: RegistryPort = createRegistry(paths);
  const files: SessionFiles = createSessionFiles(paths.pty);
  expect(Object.keys(port).sort()).toEqual(["changeHolds", "changeLedger", "patchTags", "read", "readHolds"]);
  expect(Object.keys(files)).toContain("withLaunchLock");
});

import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { registryContract } from "../../test/contract/registry-contract.ts";
import { cleanUp, freshNetwork } from "../../test/fakes/network.ts";
import { FAKE_BOOT, FakeRegistry } from "../../test/fakes/registry.ts";
import { sessionPaths } from "../system/paths.ts";
import { identityOf, processTable } from "../system/processes.ts";
import { createRegistry } from "./registry.ts";

const TORN = '{"torn';

registryContract(
  "the registry on disk",
  () => {
    const paths = freshNetwork();
    mkdirSync(paths.ledgers, { recursive: true });
    const put = (path: string, value: object | "torn") =>
      writeFileSync(path, value === "torn" ? TORN : JSON.stringify(value));
    return {
      port: createRegistry(paths),
      living: identityOf(process.pid) ?? { pid: 0, start: "" },
      boot: processTable.boot(),
      putRecord: (name, record) => put(sessionPaths(paths.pty, name).record, record),
      putLedger: (name, ledger) => put(sessionPaths(paths.pty, name).ledger, ledger),
      tearHolds: () => put(paths.holds, "torn"),
    };
  },
  cleanUp,
);

registryContract(
  "the fake registry",
  () => {
    const port = new FakeRegistry();
    const living = { pid: 7, start: "70" };
    port.processes.set(living.pid, "ours");
    return {
      port,
      living,
      boot: FAKE_BOOT,
      putRecord: (name, record) => port.records.set(name, record),
      putLedger: (name, ledger) => port.ledgers.set(name, ledger),
      tearHolds: () => {
        port.holds = "torn";
      },
    };
  },
  cleanUp,
);

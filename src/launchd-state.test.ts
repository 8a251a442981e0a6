import { expect, test } from "bun:test";
import { parseAgentState } from "./launchd-state.ts";

const COMMON = { loaded: true, stale: false, enabled: null, spares: null };

test.each([
  [
    "gui/501/convoy-default = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 71\n\tlast exit code = (never exited)\n}\n",
    { ...COMMON, state: "active", pid: 71, exitCode: null },
  ],
  [
    "gui/501/convoy-default = {\n\tstate = spawn scheduled\n\tlast exit code = 3\n\tinner = {\n\t\tpid = 9\n\t}\n}\n",
    { ...COMMON, state: "starting", pid: null, exitCode: 3 },
  ],
])("%j", (text, run) => {
  expect(parseAgentState(text)).toEqual(run as never);
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { SERVICES } from "../test/generators/services.ts";
import { missingPrograms, skippable } from "../test/support/skippable.ts";
import { formatLaunchAgent, parseLaunchAgent } from "./launch-agent.ts";
import { type Service, serviceCommand } from "./service.ts";

const LABEL = "convoy-net";
const LOG = "/srv/a & <b>/up.log";

test("every service is read back as it was written", () => {
  fc.assert(
    fc.property(SERVICES, (service) =>
      expect(parseLaunchAgent(formatLaunchAgent(service, LABEL, LOG))).toEqual(service),
    ),
  );
});

test.each([
  ["an empty text", ""],
  ["no command", "<plist><dict><key>EnvironmentVariables</key><dict></dict></dict></plist>"],
  [
    "another command",
    "<key>ProgramArguments</key><array><string>convoy</string></array><key>EnvironmentVariables</key><dict></dict>",
  ],
])("%s is no property list of ours", (_, text) => {
  expect(parseLaunchAgent(text)).toBeNull();
});

/** What another reader of property lists makes of several texts. */
function readAll(texts: readonly string[]): unknown {
  const program =
    "import json, plistlib, sys; print(json.dumps([plistlib.loads(t.encode()) for t in json.load(sys.stdin)]))";
  const read = Bun.spawnSync(["python3", "-c", program], { stdin: Buffer.from(JSON.stringify(texts)) });
  return JSON.parse(read.stdout.toString());
}

const missing = missingPrograms("python3");
skippable("another reader finds every word, and what the agents live by", missing, () => {
  const services: Service[] = fc.sample(SERVICES, { numRuns: 100, seed: 7 });
  expect(readAll(services.map((service) => formatLaunchAgent(service, LABEL, LOG)))).toEqual(
    services.map((service) => ({
      Label: LABEL,
      ProgramArguments: serviceCommand(service),
      EnvironmentVariables: service.environment,
      RunAtLoad: true,
      KeepAlive: true,
      ThrottleInterval: 5,
      AbandonProcessGroup: true,
      ProcessType: "Interactive",
      StandardOutPath: LOG,
      StandardErrorPath: LOG,
    })),
  );
});

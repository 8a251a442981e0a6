import { expect, test } from "bun:test";
import {
  type ClockFacts,
  checkClock,
  checkDisk,
  checkLingering,
  checkLogout,
  checkWatches,
  type DiskFacts,
  type LogoutFacts,
  type WatchFacts,
} from "./machine-checks.ts";

const shown = ({ answer, message, fix }: { answer: string; message: string; fix: string | null }) =>
  fix === null ? [answer, message] : [answer, message, fix];

const sysctl = (limit: string) =>
  `echo fs.inotify.${limit} | sudo tee -a /etc/sysctl.d/60-convoy.conf; sudo sysctl --system`;

test.each<[WatchFacts | null, string[]]>([
  [
    { maxInstances: 128, maxWatches: 1_000, instances: 100, watches: 10 },
    ["pass", "100 of 128 instances and 10 of 1000 watches in use"],
  ],
  [
    { maxInstances: 128, maxWatches: 1_000, instances: 124, watches: 10 },
    ["pass", "124 of 128 instances and 10 of 1000 watches in use"],
  ],
  [
    { maxInstances: 128, maxWatches: 1_000, instances: 125, watches: 10 },
    ["fail", "125 of 128 instances and 10 of 1000 watches in use", sysctl("max_user_instances=1024")],
  ],
  [
    { maxInstances: 1_024, maxWatches: 1_000, instances: 1_023, watches: 10 },
    ["fail", "1023 of 1024 instances and 10 of 1000 watches in use", sysctl("max_user_instances=2052")],
  ],
  [
    { maxInstances: 128, maxWatches: 1_000, instances: 1, watches: 990 },
    ["fail", "1 of 128 instances and 990 of 1000 watches in use", sysctl("max_user_watches=524288")],
  ],
  [null, ["unknown", "this system does not say how many files may be watched"]],
])("watch limits for ten folders and three agents: %j", (facts, expected) => {
  expect(shown(checkWatches(facts, 10, 3))).toEqual(expected);
});

const LOGOUT: LogoutFacts = {
  logind: true,
  user: "ann",
  lingering: false,
  killsUserProcesses: false,
  service: false,
  hosts: [],
};
const NO_LOGIND = ["pass", "no systemd-logind here: nothing ends with a logout"];
const LINGER = "loginctl enable-linger ann";

test.each<[Partial<LogoutFacts>, string[]]>([
  [{ logind: false, lingering: null }, NO_LOGIND],
  [{ lingering: true }, ["pass", "on: what systemd runs for ann outlives the last logout"]],
  [{ lingering: null }, ["unknown", "cannot tell whether ann lingers", LINGER]],
  [{ hosts: ["login", "elsewhere"] }, ["pass", "off, and nothing of this network depends on it"]],
  [{ service: true }, ["fail", "off: the last logout of ann ends the service", LINGER]],
  [
    { service: true, hosts: ["user-manager", "login", "user-manager"] },
    ["fail", "off: the last logout of ann ends 2 sessions", LINGER],
  ],
  [{ hosts: ["user-manager"] }, ["fail", "off: the last logout of ann ends 1 session", LINGER]],
])("lingering: %j", (facts, expected) => {
  expect(shown(checkLingering({ ...LOGOUT, ...facts }))).toEqual(expected);
});

const INSTALL = "convoy service install";
test.each<[Partial<LogoutFacts>, string[]]>([
  [{ logind: false, killsUserProcesses: null }, NO_LOGIND],
  [{ killsUserProcesses: null }, ["unknown", "systemd-logind does not say"]],
  [{ hosts: ["login"] }, ["pass", "off for ann: agents outlive the login that they were started in"]],
  [{ killsUserProcesses: true }, ["fail", "on: what is started from a login ends with it", INSTALL]],
  [{ killsUserProcesses: true, service: true }, ["pass", "on, and out of reach of what the service starts"]],
  [
    { killsUserProcesses: true, service: true, hosts: ["user-manager", "login"] },
    [
      "fail",
      "on: 1 session started from a login will end with it",
      `${INSTALL}, then convoy restart each agent`,
    ],
  ],
])("KillUserProcesses: %j", (facts, expected) => {
  expect(shown(checkLogout({ ...LOGOUT, ...facts }))).toEqual(expected);
});

const NOW = Date.UTC(2026, 10, 30);
const NTP = "sudo timedatectl set-ntp true";
test.each<[ClockFacts, string[]]>([
  [
    { nowMs: NOW, newestMs: NOW + 59_000, synchronized: true },
    ["pass", "2026-11-30T00:00:00.000Z, synchronized"],
  ],
  [
    { nowMs: NOW, newestMs: null, synchronized: false },
    ["unknown", "2026-11-30T00:00:00.000Z, and this system does not keep it right", NTP],
  ],
  [
    { nowMs: NOW, newestMs: null, synchronized: null },
    ["unknown", "2026-11-30T00:00:00.000Z; this system does not say whether it is kept right"],
  ],
  [
    { nowMs: NOW, newestMs: NOW + 3_600_000, synchronized: true },
    [
      "fail",
      "it is 2026-11-30T00:00:00.000Z here, and a session was started at 2026-11-30T01:00:00.000Z",
      NTP,
    ],
  ],
  [{ nowMs: 0, newestMs: null, synchronized: true }, ["fail", "it is 1970-01-01T00:00:00.000Z here", NTP]],
])("clock: %j", (facts, expected) => {
  expect(shown(checkClock(facts))).toEqual(expected);
});

const MIB = 1024 * 1024;
const ROOMY = { path: "/n", freeBytes: 500 * MIB, freeFiles: 5_000 };
test.each<[DiskFacts[], string[]]>([
  [
    [ROOMY, { ...ROOMY, path: "/h", freeFiles: null }],
    ["pass", "/n: 500 MiB free; /h: 500 MiB free"],
  ],
  [
    [ROOMY, { ...ROOMY, path: "/h", freeBytes: 255 * MIB }],
    ["fail", "/h: 255 MiB free", "make room: df -h '/h'"],
  ],
  [[{ ...ROOMY, freeFiles: 999 }], ["fail", "/n: room for 999 files", "make room: df -h '/n'"]],
  [[{ ...ROOMY, freeBytes: null }], ["unknown", "/n: an unknown amount free"]],
])("disk space: %j", (facts, expected) => {
  expect(shown(checkDisk(facts))).toEqual(expected);
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { SERVICES } from "../test/generators/services.ts";
import type { Service } from "./service.ts";
import { formatUnit, parseUnit } from "./systemd-unit.ts";

const SERVICE: Service = {
  network: "/srv/100% \\net",
  binary: '/opt/"b"/convoy',
  environmentFile: "/c/e.env",
  words: ["up", "--network", "/srv/100% \\net", `--on-event=say $x \${y} ;`],
  environment: { PATH: "/bin:/a b:/$c", LANG: '50%"\\' },
};

test("the whole unit", () => {
  const lines = formatUnit(SERVICE).split("\n");
  const [exec = ""] = lines.filter((line) => line.startsWith("ExecStart="));
  expect(exec).toStartWith('ExecStart="/bin/sh" "-c" "bin=$$0 file=$$1; ');
  expect(exec).toEndWith(
    ' "/opt/\\"b\\"/convoy" "/c/e.env" "up" "--network" "/srv/100%% \\\\net" "--on-event=say $$x $${y} ;"',
  );
  expect(lines.filter((line) => line !== exec && !line.startsWith("#"))).toEqual([
    "[Unit]",
    "Description=convoy supervises /srv/100%% \\\\net",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    'Environment="PATH=/bin:/a b:/$c"',
    'Environment="LANG=50%%\\"\\\\"',
    "SyslogIdentifier=convoy",
    "Restart=always",
    "RestartSec=5",
    "TimeoutStopSec=30",
    "KillMode=process",
    "OOMPolicy=continue",
    "TasksMax=infinity",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ]);
});

test("every service is read back as it was written", () => {
  fc.assert(fc.property(SERVICES, (service) => expect(parseUnit(formatUnit(service))).toEqual(service)));
});

const unit = formatUnit(SERVICE);
test.each([
  ["an empty text", ""],
  ["another command", unit.replace(/^ExecStart=.*$/m, "ExecStart=/usr/bin/convoy up")],
  ["a word without quotes", unit.replace('"/bin/sh"', "/bin/sh")],
  ["two commands", unit.replace(/^(ExecStart=.*)$/m, "$1\n$1")],
  ["two variables in one line", unit.replace('"LANG', '"A=b" "LANG')],
  ["a variable without a value", unit.replace('"LANG=', '"LANG')],
])("%s is not a unit of ours", (_, text) => {
  expect(parseUnit(text)).toBeNull();
});

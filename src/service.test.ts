import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  readServiceCommand,
  recordedEnvironment,
  type Service,
  serviceCommand,
  serviceFault,
  serviceName,
  serviceWords,
} from "./service.ts";

const HOME = "/home/you";
const STATE = `${HOME}/.local/state/convoy`;
const NO_OPTIONS = { intervalSeconds: null, fastFailWindow: null, fastFailLimit: null, onEvent: null };

test.each([
  [`${STATE}/default`, "convoy-default"],
  [`${STATE}/My.net_2`, "convoy-My.net_2"],
  [`${STATE}/a b`, "convoy-a-b-34284a41"],
  ["/srv/net", "convoy-net-e87601e0"],
  ["/srv/other/net", "convoy-net-f9f2c1c5"],
  ["/srv/ü %n\"$'\\", "convoy--n--5dd8f5e0"],
  ["/", "convoy-8a5edab2"],
  [`/srv/${"n".repeat(60)}`, `convoy-${"n".repeat(40)}-044f7d78`],
])("serviceName %s", (network, name) => {
  expect(serviceName(network, HOME)).toBe(name);
});

test("a service's name is one that every manager and every shell takes, and two networks have two", () => {
  const path = fc.array(fc.string({ unit: "binary", minLength: 1 }), { minLength: 1 });
  const network = path.map((parts) => `/${parts.join("/")}`);
  fc.assert(
    fc.property(network, network, (one, other) => {
      const names = [serviceName(one, HOME), serviceName(other, HOME)];
      for (const name of names) expect(name).toMatch(/^convoy-[A-Za-z0-9._-]{1,100}$/);
      expect(names[0] === names[1]).toBe(one === other);
    }),
  );
});

test("what a service runs: it keeps holds and waits its turn, with the flags that were asked for", () => {
  expect(serviceWords("/n", NO_OPTIONS)).toEqual(["up", "--network", "/n", "--keep-holds", "--wait"]);
  expect(
    serviceWords("/n", {
      intervalSeconds: 1.5,
      fastFailWindow: 2,
      fastFailLimit: 4,
      onEvent: "say 'it'",
    }).slice(5),
  ).toEqual(["--interval=1.5", "--fast-fail-window=2", "--fast-fail-limit=4", "--on-event=say 'it'"]);
});

const SERVICE: Service = {
  network: "/n",
  binary: "/b/convoy",
  environmentFile: "/c/convoy-n.env",
  words: serviceWords("/n", NO_OPTIONS),
  environment: { PATH: "/bin" },
};

test("a service's command line says all of it, and another's nothing", () => {
  const command = serviceCommand(SERVICE);
  expect([command[0], ...command.slice(3)]).toEqual([
    "/bin/sh",
    "/b/convoy",
    "/c/convoy-n.env",
    ...SERVICE.words,
  ]);
  expect(readServiceCommand(command, SERVICE.environment)).toEqual(SERVICE);
  const others = [
    [],
    ["/b/convoy", "up", "--network", "/n"],
    command.slice(0, 6),
    command.slice(0, 7),
    command.with(2, "exec convoy"),
    command.with(5, "down"),
    command.with(6, "--net"),
  ];
  expect(others.map((other) => readServiceCommand(other, {}))).toEqual(others.map(() => null));
});

test("what is recorded: absolute folders of PATH once each, where things are, and no credential", () => {
  expect(
    recordedEnvironment({
      PATH: "/a::bin:/b:.:/a",
      CONVOY_HOST: "box",
      LANG: "",
      CODEX_HOME: "/c",
      ANTHROPIC_API_KEY: "secret",
      HOME: "/h",
    }),
  ).toEqual({ PATH: "/a:/b", CODEX_HOME: "/c", CONVOY_HOST: "box" });
  expect(recordedEnvironment({})).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin" });
});

test.each([
  ["/n", null],
  ["/ü ☃", null],
  ["/a\nb", '"/a\\nb" has a character that a service cannot be given'],
  ["/a\u0007", '"/a\\u0007" has a character that a service cannot be given'],
  ["/a\ufffd", '"/a\ufffd" has a character that a service cannot be given'],
])("serviceFault %j", (binary, fault) => {
  expect(serviceFault({ ...SERVICE, binary })).toBe(fault);
});

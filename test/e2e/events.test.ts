/** `convoy events`: what happened, from the log on the disk, with and without a supervisor. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ConvoyEvent } from "../../src/events.ts";
import { BINARY } from "./binary.ts";
import { DEADLINE_MS, kill, Net, until } from "./kit.ts";

setDefaultTimeout(2 * DEADLINE_MS);

let net: Net;
beforeEach(() => {
  net = new Net();
});
afterEach(() => net.remove());

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");
const typesOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).type as string);
const logOf = (of: Net) => join(of.state, "events.jsonl");

function write(...events: readonly object[]): void {
  mkdirSync(net.state, { recursive: true });
  appendFileSync(logOf(net), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}

const about = (identity: string, more: object = {}) => {
  const busId = `box.${identity}`;
  return { ts: "2020-03-04T12:00:00.000Z", type: "adopt", identity, busId, session: busId, pid: 7, ...more };
};

/** `convoy events -f`, and the lines it has printed so far. */
function follow(...words: readonly string[]) {
  const child = net.spawn(["events", "-f", ...words]);
  const seen = { lines: [] as string[], stderr: "", ended: child.exited, child };
  void (async () => {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      seen.lines = linesOf(text.slice(0, text.lastIndexOf("\n") + 1));
    }
  })();
  void new Response(child.stderr).text().then((text) => {
    seen.stderr = text;
  });
  return seen;
}

test("what a pass did is told to a person and to a program, by the same records", async () => {
  net.declare("a");
  net.declare("b");
  await net.once();
  const json = await net.convoy(["events", "--json"]);
  expect([json.code, json.stderr]).toEqual([0, ""]);
  expect(linesOf(json.stdout).map((line) => JSON.parse(line) as ConvoyEvent)).toEqual(net.events());
  const text = await net.convoy(["events"]);
  expect(linesOf(text.stdout).length).toBe(net.events().length);
  expect(text.stdout).toMatch(/^\d\d:\d\d:\d\d {2}launch {12}box\.a started, pid \d+ \(no session\)$/m);
  expect(text.stdout).not.toContain("\u001b");
});

test("one agent's events, by identity, bus id and session id; also when it is long gone", async () => {
  write(
    about("gone"),
    about("other"),
    about("gone", { session: "box.gone.ding", type: "heal", task: "ding" }),
    { ts: "2020-03-04T12:00:00.000Z", type: "held", identity: "gone", busId: "box.gone", by: "x", at: "y" },
    { ts: "2020-03-04T12:00:00.000Z", type: "detach", kept: 1 },
  );
  const types = async (...words: string[]) =>
    typesOf(linesOf((await net.convoy(["events", ...words, "--json"])).stdout));
  expect(await types()).toEqual(["adopt", "adopt", "heal", "held", "detach"]);
  for (const name of ["gone", "box.gone"]) expect(await types(name)).toEqual(["adopt", "heal", "held"]);
  expect(await types("box.gone.ding")).toEqual(["heal"]);
  expect(await types("gone", "-n", "1")).toEqual(["held"]);
  expect(await types("gone", "-n", "0")).toEqual([]);
  const text = await net.convoy(["events", "gone", "-n", "1"]);
  expect(text.stdout).toMatch(/^2020-03-04 \d\d:\d\d:\d\d {2}held {14}gone is held by x since y; /);
});

test("the last 50 for a person, all for a program; over what was rotated, and over lines that are none", async () => {
  for (const age of [".1", ""]) {
    write(...Array.from({ length: 40 }, (_, n) => about("a", { pid: n })));
    if (age !== "") renameSync(logOf(net), `${logOf(net)}${age}`);
  }
  appendFileSync(logOf(net), "not an event\n");
  const note = `1 line of ${logOf(net)} is no event and was left out.\n`;
  const text = await net.convoy(["events"]);
  expect([text.code, linesOf(text.stdout).length, text.stderr]).toEqual([0, 50, note]);
  expect(linesOf((await net.convoy(["events", "--json"])).stdout).length).toBe(80);
  expect(linesOf((await net.convoy(["events", "-n", "60"])).stdout).length).toBe(60);
});

test("nothing yet, nobody of that name, no network", async () => {
  net.declare("fabric");
  const next = `  next: convoy ls --network ${net.root}\n`;
  const table: [words: string[], code: number, stderr: string][] = [
    [["events"], 0, "Nothing has happened yet.\n"],
    [["events", "--json"], 0, "Nothing has happened yet.\n"],
    [["events", "fabric"], 0, "Nothing has happened to fabric yet.\n"],
    [["events", "fabrik"], 3, `convoy: no agent "fabrik" in ${net.root}; did you mean fabric?\n${next}`],
    [
      ["events", "fabrik", "-f"],
      3,
      `convoy: no agent "fabrik" in ${net.root}; did you mean fabric?\n${next}`,
    ],
  ];
  for (const [words, code, stderr] of table)
    expect(await net.convoy(words)).toEqual({ code, stdout: "", stderr });
  rmSync(net.root, { recursive: true });
  const missing = await net.convoy(["events", "-f"]);
  expect([missing.code, missing.stdout, missing.stderr]).toEqual([
    3,
    "",
    `convoy: no network at ${net.root}\n  next: convoy init ${net.root}\n`,
  ]);
});

test("-f goes on over rotations with what comes, of one agent, until Ctrl-C", async () => {
  net.declare("a");
  net.declare("b");
  const all = follow("--json");
  const one = follow("a", "--json", "-n", "0");
  await net.up();
  const pid = await net.running("a");
  await until("the launch to be told", () => typesOf(one.lines).includes("launch"));
  renameSync(logOf(net), `${logOf(net)}.1`);
  kill(pid);
  await net.running("a", pid);
  await until("the respawn to be told", () => typesOf(one.lines).includes("respawn"));
  expect(typesOf(one.lines)).toEqual(["launch", "death", "respawn"]);
  await until("everything to be told", () => typesOf(all.lines).includes("respawn"));
  expect(typesOf(all.lines).filter((type) => type === "launch")).toEqual(["launch", "launch"]);
  for (const [following, signal] of [
    [all, "SIGINT"],
    [one, "SIGTERM"],
  ] as const) {
    following.child.kill(signal);
    expect([await following.ended, following.stderr]).toEqual([0, ""]);
  }
});

test("-f ends quietly when nobody reads any more", async () => {
  write(about("a"));
  const shell = `"$0" "$@" | head -n 1; echo "code $?" >&2`;
  const words = ["events", "-f", "--json", "--network", net.root];
  const child = Bun.spawn(["sh", "-c", shell, BINARY, ...words], {
    env: net.env(),
    stdout: "pipe",
    stderr: "pipe",
  });
  // What comes is what it notices it by.
  const feeding = setInterval(() => write(about("b")), 50);
  try {
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([JSON.parse(stdout).identity, stderr]).toEqual(["a", "code 0\n"]);
  } finally {
    clearInterval(feeding);
  }
});

import { expect, test } from "bun:test";
import { createOutput } from "./output.ts";
import type { Sink } from "./sink.ts";

function recorder(terminal: boolean, open = () => true): Sink & { text: string } {
  return {
    text: "",
    terminal: () => terminal,
    columns: () => 20,
    write(text) {
      if (open()) this.text += text;
      return open();
    },
    async writeSoon(text) {
      return this.write(text);
    },
  };
}

test("data goes to stdout, everything for a person to stderr, repeats included", () => {
  const stdout = recorder(false);
  const stderr = recorder(false);
  const output = createOutput(stdout, stderr, {});
  output.out("line");
  output.record({ a: 1 });
  output.document({ a: [1] });
  for (let i = 0; i < 8; i++) output.note("again");
  output.warn("careful");
  output.error("it failed", "convoy ls");
  output.progress("working").stop();
  expect(stdout.text).toBe('line\n{"a":1}\n{\n  "a": [\n    1\n  ]\n}\n');
  expect(stderr.text).toBe(`${"again\n".repeat(8)}warning: careful\nconvoy: it failed\n  next: convoy ls\n`);
  expect(output.width).toBeNull();
});

test("what a message quotes stays on its line, moves no cursor, and is cut when it is very long", () => {
  const stderr = recorder(false);
  const output = createOutput(recorder(false), stderr, {});
  output.error('no agent "a\nb\u001b[2J"', "convoy \u009b31m\tx");
  output.warn(`a ${"x".repeat(100_000)} z`);
  expect(stderr.text).toBe(
    `convoy: no agent "a b?[2J"\n  next: convoy ?31m x\nwarning: a ${"x".repeat(998)} … ${"x".repeat(998)} z\n`,
  );
});

test.each([
  [true, {}, true],
  [true, { NO_COLOR: "" }, true],
  [true, { NO_COLOR: "1" }, false],
  [true, { TERM: "dumb" }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: "1" }, false],
])("terminal %p with %p has colour: %p", (terminal, env, colored) => {
  const stderr = recorder(terminal);
  const output = createOutput(recorder(terminal), stderr, env);
  output.error("x");
  expect([output.colors.green("ok") !== "ok", stderr.text !== "convoy: x\n"]).toEqual([colored, colored]);
});

test("progress is one line on a terminal, out of the way of notes, gone in the end", () => {
  const stderr = recorder(true);
  const output = createOutput(recorder(true), stderr, { NO_COLOR: "1" });
  const progress = output.progress("1/3");
  output.note("note");
  progress.update("2/3 with a text that is too long");
  progress.stop();
  progress.update("after the end");
  const clear = "\r\u001b[2K";
  expect(stderr.text).toBe(`${clear}1/3${clear}note\n${clear}1/3${clear}2/3 with a text th…${clear}`);
});

test("once nobody reads stdout, `closed` says so and nothing more is written", () => {
  let open = true;
  const stdout = recorder(false, () => open);
  const output = createOutput(stdout, recorder(false), {});
  output.out("read");
  open = false;
  output.out("lost");
  open = true;
  output.out("dropped");
  expect([stdout.text, output.closed.aborted]).toEqual(["read\n", true]);
});

test("a lasting output writes in the background, and an error at once", async () => {
  const stdout = recorder(false);
  const stderr = recorder(false);
  const output = createOutput(stdout, stderr, {});
  const { promise: read, resolve: readOn } = Promise.withResolvers<void>();
  for (const stream of [stdout, stderr]) {
    const { write } = stream;
    stream.writeSoon = async (text) => {
      await read;
      return write.call(stream, text);
    };
  }
  const lasting = output.lasting();
  output.out("line");
  output.warn("careful");
  output.error("it failed");
  expect([stdout.text, stderr.text]).toEqual(["", "convoy: it failed\n"]);
  readOn();
  await lasting.flush(60_000);
  expect([stdout.text, stderr.text]).toEqual(["line\n", "convoy: it failed\nwarning: careful\n"]);
});

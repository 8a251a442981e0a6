import { KEY_NAMES } from "../../keys.ts";
import { AGENT_ARGUMENT, defineConvoyCommand } from "../command.ts";

export default defineConvoyCommand({
  args: {
    agent: AGENT_ARGUMENT,
    text: {
      type: "positional",
      description: "what is typed, as it is; - types what comes on stdin",
      allowEmpty: true,
    },
    enter: { type: "boolean", description: "press Enter, after everything else" },
    key: {
      type: "string",
      valueHint: "name",
      suggests: KEY_NAMES,
      description: "press a key, after the text",
      multiple: true,
    },
    paste: { type: "boolean", description: "the text comes as one bracketed paste" },
  },
  examples: [
    { line: 'convoy send fabric "run the tests" --enter', what: "type a line" },
    { line: "convoy send fabric - --paste --enter <notes.md", what: "paste a file, then Enter" },
    { line: "convoy send fabric --key esc --key ctrl-c", what: "press two keys" },
    { line: "convoy send fabric -- --help", what: "type text that begins with -" },
  ],
  details: [
    "Keys: enter, tab, esc, space, backspace, delete, insert, up, down, left, right, home, end, pgup, pgdn, f1 to f12,",
    "or one character; with any of ctrl-, alt- and shift- (c-, m-, s-) before it. They come in the order given.",
    "Text is typed byte for byte, line ends too. Each key is a press of its own, 0.1 s after what came before it.",
    "--paste always puts the marks of a bracketed paste around it; leave it out for a program that knows none.",
    "Done when the session host has taken everything; a program that reads slowly holds a long text up.",
  ],
  async run(context) {
    const { runSend } = await import("../send.ts");
    return await runSend(context.args, context);
  },
});

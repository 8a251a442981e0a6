/** BUN-05: TOML is read as the standard says, valid and invalid, and one bad file stands alone. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Field, problemsIn, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
});
afterEach(() => field.remove());

test(
  "an inline table before a list of tables, date-times, dotted and numeric keys, wide escapes, long strings",
  async () => {
    field.declare(
      "a",
      [
        'env.DOTTED = "dotted"',
        'env."QUOTED" = "quoted"',
        'env.WIDE = "\\U0001F600"',
        'env.LONG = """\\\n   one \\\n   two"""',
        "env.LITERAL = '''C:\\n'''",
      ].join("\n"),
    );
    field.put(
      "n/catalog/box/b/notes.toml",
      'x = { a = 1 }\n[[y]]\nwhen = 2026-11-30T10:10:10.5Z\nday = 2026-11-30\n1.2 = "n"\n',
    );
    const ran = await field.once();
    expect(ran).toMatchObject({ code: 0 });
    expect(problemsIn(ran.events)).toEqual([]);
    const [run] = await field.untilLaunched(1);
    expect(field.environmentOf(run!)).toMatchObject({
      DOTTED: "dotted",
      QUOTED: "quoted",
      WIDE: "\u{1F600}",
      LONG: "one two",
      LITERAL: "C:\\n",
    });
  },
  TEST_MS,
);

test(
  "invalid files are refused with their line",
  async () => {
    field.declare("fine");
    const start = 'identity = "bad"\nrole = "worker"\n';
    const invalid = { list: "a = [1 2]\n", sign: "a = @\n", twice: '[env]\nA = "1"\n[env]\nB = "2"\n' };
    for (const [name, text] of Object.entries(invalid))
      field.put(`n/catalog/box/${name}/agent.toml`, start + text);
    const ran = await field.once();
    expect(ran.code).toBe(1);
    const errors = ran.events.filter(({ type }) => type === "catalog_error");
    expect(errors.map(({ path, line }) => `${path}:${line}`).sort()).toEqual([
      "box/list/agent.toml:3",
      "box/sign/agent.toml:3",
      "box/twice/agent.toml:5",
    ]);
    expect((await field.untilLaunched(1)).map(({ busId }) => busId)).toEqual(["box.fine"]);
  },
  TEST_MS,
);

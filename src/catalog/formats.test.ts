import { expect, test } from "bun:test";
import fc from "fast-check";
import { type DeclarationFields, declarationObject, formatDeclaration } from "../declaration-format.ts";
import { validateDeclaration } from "../declaration-validate.ts";
import { DECLARATION_EXTENSIONS } from "../leftovers.ts";
import { decodeDeclaration } from "./decode.ts";
import { JSON_TEXT, KDL, TOML } from "./decode-fixture.ts";

const anyText = fc
  .string({ unit: "binary", maxLength: 40 })
  .map((text) => text.replaceAll("\0", "").toWellFormed());
const visible = fc.oneof(anyText, fc.string()).filter((text) => text.trim() !== "" && !text.includes("\0"));
const fields: fc.Arbitrary<DeclarationFields> = fc.record(
  {
    role: fc.constantFrom("worker", "chief-of-staff"),
    workspace: visible,
    persona: visible,
    retired: fc.boolean(),
    model: fc.stringMatching(/^[A-Za-z0-9._:/-]+$/),
    env: fc.dictionary(
      anyText.filter((name) => name !== "" && !name.includes("=")),
      anyText,
    ),
    command: visible,
  },
  { requiredKeys: ["role"] },
);

test("the three formats of any declaration read back as the object, and as one declaration", async () => {
  await fc.assert(
    fc.asyncProperty(fields, async (written) => {
      const object = declarationObject("box", "fabric", written);
      for (const extension of DECLARATION_EXTENSIONS) {
        const text = formatDeclaration(extension, "box", "fabric", written);
        const decoding = await decodeDeclaration(text, extension);
        const value = decoding.kind === "decoded" ? decoding.value : decoding;
        expect(value).toEqual(object);
        expect(validateDeclaration(value)).toEqual(validateDeclaration(object));
        expect(validateDeclaration(value).kind).toBe("declaration");
      }
    }),
    { numRuns: 300 },
  );
});

test("cut, mixed or random text is decoded or refused, never thrown", async () => {
  const texts = { toml: TOML, kdl: KDL, json: JSON_TEXT };
  const damaged = fc.oneof(
    fc.record({ from: fc.nat(300), to: fc.nat(300), insert: anyText }),
    fc.record({ from: fc.constant(0), to: fc.constant(400), insert: fc.string({ unit: "binary" }) }),
  );
  await fc.assert(
    fc.asyncProperty(damaged, async ({ from, to, insert }) => {
      for (const extension of DECLARATION_EXTENSIONS) {
        const text = texts[extension].slice(0, from) + insert + texts[extension].slice(to);
        const decoding = await decodeDeclaration(text, extension);
        if (decoding.kind === "undecodable") {
          expect(decoding.message).toMatch(/^(is|has|`)/);
          expect(decoding.message).not.toContain("\n");
          continue;
        }
        const checked = validateDeclaration(decoding.value);
        for (const issue of checked.kind === "other" ? [] : checked.issues)
          expect((await decoding.positionOf(issue.path)).line).toBeGreaterThan(0);
      }
    }),
    { numRuns: 400 },
  );
});

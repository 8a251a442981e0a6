import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mergeClaudeTrust } from "./trust.ts";

const ENTRY = `{
      "hasTrustDialogAccepted": true
    }`;

function merged(text: string | null, workspaces: readonly string[] = ["/w"]): string {
  const result = mergeClaudeTrust(text, workspaces);
  if ("problem" in result) throw new Error(result.problem);
  return result.text;
}

describe("mergeClaudeTrust", () => {
  test.each([
    ["no file", null, `{\n  "projects": {\n    "/w": ${ENTRY}\n  }\n}\n`],
    ["an empty file", "", `{\n  "projects": {\n    "/w": ${ENTRY}\n  }\n}\n`],
    ["an empty object", "{}\n", `{\n  "projects": {\n    "/w": ${ENTRY}\n  }\n}\n`],
    [
      "a neighbour",
      '{\n  "projects": {\n    "/a": {}\n  },\n  "z": 1\n}',
      `{\n  "projects": {\n    "/a": {},\n    "/w": ${ENTRY}\n  },\n  "z": 1\n}`,
    ],
    [
      "empty projects",
      '{\n  "projects": {},\n  "z": 1\n}',
      `{\n  "projects": {\n    "/w": ${ENTRY}\n  },\n  "z": 1\n}`,
    ],
    [
      "tabs and CRLF",
      '{\r\n\t"a": 1\r\n}\r\n',
      '{\r\n\t"a": 1,\r\n\t"projects": {\r\n\t\t"/w": {\r\n\t\t\t"hasTrustDialogAccepted": true\r\n\t\t}\r\n\t}\r\n}\r\n',
    ],
    ["one line", '{"a":1}', '{"a":1,"projects":{"/w":{"hasTrustDialogAccepted":true}}}'],
    [
      "one line with spaces",
      '{ "projects": { "/a": {} } }',
      '{ "projects": { "/a": {}, "/w":{"hasTrustDialogAccepted":true} } }',
    ],
    [
      "a byte order mark",
      '\uFEFF{"projects":{}}',
      '\uFEFF{"projects":{"/w":{"hasTrustDialogAccepted":true}}}',
    ],
    [
      "an entry without the flag",
      '{"projects":{"/w":{"x":[1]}}}',
      '{"projects":{"/w":{"x":[1],"hasTrustDialogAccepted":true}}}',
    ],
    [
      "the flag as false",
      '{"projects":{"/w":{"hasTrustDialogAccepted" : false,"x":1}}}',
      '{"projects":{"/w":{"hasTrustDialogAccepted" : true,"x":1}}}',
    ],
    [
      "an escaped key",
      '{"projects":{"\\u002fw":{}}}',
      '{"projects":{"\\u002fw":{"hasTrustDialogAccepted":true}}}',
    ],
    [
      "members given twice, of which the last counts",
      '{"projects":[],"projects":{"/w":{"hasTrustDialogAccepted":true},"/w":{}}}',
      '{"projects":[],"projects":{"/w":{"hasTrustDialogAccepted":true},"/w":{"hasTrustDialogAccepted":true}}}',
    ],
    [
      "what a round trip would damage",
      '{"10":1,"2":12345678901234567890,"__proto__":{"a":1},"x":1.0,"x":1e400,"projects":{}}',
      '{"10":1,"2":12345678901234567890,"__proto__":{"a":1},"x":1.0,"x":1e400,"projects":{"/w":{"hasTrustDialogAccepted":true}}}',
    ],
  ])("adds to %s", (_what, before, after) => {
    expect(mergeClaudeTrust(before, ["/w", "/w"])).toEqual({ text: after, changed: true, added: ["/w"] });
    expect(mergeClaudeTrust(after, ["/w"])).toEqual({ text: after, changed: false, added: [] });
  });

  test.each([
    ["a trailing comma", '{\n  "a": 1,\n}', "line 3: property name expected"],
    ["a block comment", '{\n  /* mine */ "a": 1\n}', "line 2: invalid comment token"],
    ["a line comment", '{\n  "a": 1 // mine\n}', "line 2: invalid comment token"],
    ["a cut", '{\n  "a": {\n    "b', "line 3: unexpected end of string"],
    ["text after the end", "{}\n{}", "line 2: end of file expected"],
    ["an array", "[]", "the top level is not an object"],
    ["null", "null", "the top level is not an object"],
    ["projects as an array", '{"projects":[]}', '"projects" is not an object'],
    ["projects as null", '{"projects":null}', '"projects" is not an object'],
    [
      "an entry that is text",
      '{"projects":{"/w":"x"}}',
      'the entry of "/w" in "projects" has an unknown form',
    ],
    [
      "a flag that is text",
      '{"projects":{"/w":{"hasTrustDialogAccepted":"no"}}}',
      'the entry of "/w" in "projects" has an unknown form',
    ],
    ["endless nesting", '{"a":'.repeat(200_000), "nested too deeply to be edited"],
  ])("refuses %s", (_what, text, problem) => {
    expect(mergeClaudeTrust(text, ["/w"])).toEqual({ problem });
  });

  test("asked for nothing it changes nothing", () => {
    expect(mergeClaudeTrust("{ broken", [])).toEqual({ text: "{ broken", changed: false, added: [] });
    expect(mergeClaudeTrust(null, [])).toEqual({ text: "", changed: false, added: [] });
  });

  test("one parse for twenty workspaces in 20 MB", () => {
    const history = Array.from({ length: 70_000 }, (_, i) => ({ display: `${i} ${"x".repeat(240)}` }));
    const before = JSON.stringify({ projects: { "/a": { history } }, z: 1 }, null, 2);
    const workspaces = Array.from({ length: 20 }, (_, i) => `/w/${i}`);
    const startedAt = performance.now();
    const after = merged(before, workspaces);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(after.length - before.length).toBeLessThan(3_000);
    expect(Object.keys(JSON.parse(after).projects)).toEqual(["/a", ...workspaces]);
  });
});

/** Anything that JSON can hold under an entry, with a flag now and then. */
const entry = fc.dictionary(
  fc.oneof(fc.string(), fc.constantFrom("1", "__proto__", "history")),
  fc.jsonValue(),
  { maxKeys: 3 },
);
const flagged = fc
  .tuple(entry, fc.constantFrom({}, { hasTrustDialogAccepted: true }, { hasTrustDialogAccepted: false }))
  .map(([members, flag]) => ({ ...members, ...flag }));
const path = fc.oneof(fc.constantFrom("/a", "/b", "/c", "__proto__", "1"), fc.string());
const document = fc.record(
  { projects: fc.dictionary(path, flagged), other: fc.jsonValue() },
  { requiredKeys: ["other"] },
);
const layout = fc.constantFrom<string | number>(0, 1, 2, 4, "\t");

describe("mergeClaudeTrust, over any document", () => {
  test("keeps every old value, and a second merge changes nothing", () => {
    fc.assert(
      fc.property(
        document,
        layout,
        fc.array(path, { minLength: 1 }),
        fc.boolean(),
        (before, space, paths, crlf) => {
          const plain = JSON.stringify(before, null, space);
          const text = crlf ? plain.replaceAll("\n", "\r\n") : plain;
          const after = merged(text, paths);
          const expected = JSON.parse(plain);
          expected.projects ??= {};
          for (const name of paths) {
            const old = Object.hasOwn(expected.projects, name) ? expected.projects[name] : {};
            const value = { ...old, hasTrustDialogAccepted: true };
            Object.defineProperty(expected.projects, name, {
              value,
              enumerable: true,
              configurable: true,
              writable: true,
            });
          }
          expect(JSON.parse(after)).toEqual(expected);
          expect(mergeClaudeTrust(after, paths.toReversed())).toEqual({
            text: after,
            changed: false,
            added: [],
          });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("only adds: what was there is still there, in its order", () => {
    fc.assert(
      fc.property(document, layout, fc.array(path, { minLength: 1 }), (before, space, paths) => {
        const text = JSON.stringify(before, null, space);
        fc.pre(!text.includes("false"));
        expect(isSubsequence(text.replaceAll(/\s/g, ""), merged(text, paths))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (let i = 0; i < whole.length; i += 1) if (whole[i] === part[at]) at += 1;
  return at === part.length;
}

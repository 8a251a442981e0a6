import { expect, test } from "bun:test";
import { credentialNames, isCredential } from "./credentials.ts";

test.each([
  ["ANTHROPIC_API_KEY", true],
  ["API_KEY", true],
  ["CLAUDE_CODE_OAUTH_TOKEN", true],
  ["ANTHROPIC_AUTH_TOKEN", true],
  ["AWS_BEARER_TOKEN_BEDROCK", true],
  ["GH_TOKEN", true],
  ["DB_PASSWORD", true],
  ["GOOGLE_APPLICATION_CREDENTIALS", true],
  ["KEY", false],
  ["MONKEY", false],
  ["TOKENIZER", false],
  ["PATH", false],
  ["MAX_TOKENS", false],
])("isCredential %s", (name, expected) => {
  expect(isCredential(name)).toBe(expected);
});

test("names of what is set, sorted; never values, and not what is empty", () => {
  expect(
    credentialNames({ PATH: "/bin", OPENAI_API_KEY: "s", B_TOKEN: "", A_TOKEN: undefined, A_API_KEY: "s" }),
  ).toEqual(["A_API_KEY", "OPENAI_API_KEY"]);
});

/** Which variables of an environment are credentials, by their names. Values are never looked at. */

/** Names that harnesses and their tools document; one that ends in `*` is a prefix. */
const KNOWN = [
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_BEARER_TOKEN_*",
  "GOOGLE_APPLICATION_CREDENTIALS",
];
const ENDINGS = [
  "API_KEY",
  "ACCESS_KEY",
  "SECRET_KEY",
  "PRIVATE_KEY",
  "TOKEN",
  "SECRET",
  "PASSWORD",
  "CREDENTIALS",
];

const CREDENTIAL = new RegExp(
  [
    ...KNOWN.map((name) => (name.endsWith("*") ? `^${name.slice(0, -1)}` : `^${name}$`)),
    ...ENDINGS.map((ending) => `(?:^|_)${ending}$`),
  ].join("|"),
);

export function isCredential(name: string): boolean {
  return CREDENTIAL.test(name);
}

/** Names of the credentials that are set and not empty, sorted. */
export function credentialNames(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env)
    .filter((name) => isCredential(name) && env[name])
    .sort();
}

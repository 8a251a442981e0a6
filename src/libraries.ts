/**
 * Libraries that take milliseconds to load and that most runs never need: each is loaded at the first call. The calls
 * are synchronous, so that what uses them can be too.
 */

/** JSON as it is written: syntax trees, positions, edits. */
export function jsoncParser(): typeof import("jsonc-parser") {
  return require("jsonc-parser");
}

/** TOML as it is written: syntax trees with ranges. */
export function tomlSyntax(): typeof import("toml-eslint-parser") {
  return require("toml-eslint-parser");
}
